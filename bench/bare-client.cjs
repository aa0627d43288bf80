// A minimal Node client for comparison: it prints the same pages one after the other over one connection.

'use strict';

const http = require('node:http');

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const headers = { authorization: `Bearer ${process.env.IMGCTL_TOKEN}` };

function fetchPage(url) {
  http.get(url, { agent, headers }, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('end', () => {
      const { data, meta } = JSON.parse(Buffer.concat(chunks).toString());
      for (const image of data) process.stdout.write(`${JSON.stringify(image)}\n`);
      if (meta.pages.next_url === null) agent.destroy();
      else fetchPage(meta.pages.next_url);
    });
  });
}

fetchPage(`${process.env.IMGCTL_BASE_URL}/v2/image?per_page=100&expand=1&sort=id,asc`);
