// Serves a request from its arrival to its answer: records it, waits, misbehaves where it was asked to.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { errorAnswer, Refusal } from './answers.ts';
import { deliver, substitute } from './fault-answers.ts';
import { createFaultPicker } from './faults.ts';
import type { Settings } from './options.ts';
import { toApiRequest } from './request.ts';
import { type Resource, route } from './router.ts';

/** A listener for node:http that answers for these resources. */
export function createService(settings: Settings, resources: readonly Resource[]): RequestListener {
  const { host, latency, log, onRequest } = settings;
  const pickFault = createFaultPicker(settings.faults);

  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '', headers } = incoming;
    onRequest?.({ method, target, headers });
    const request = toApiRequest(incoming, host);
    const fault = pickFault(request.method, request.path);
    if (latency > 0) await setTimeout(latency, undefined, { ref: false });
    const answer = (fault && substitute(fault)) ?? route(resources, request);
    deliver(response, answer, fault?.type);
  };

  return (incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      if (!(error instanceof Refusal))
        log(`defect: ${error instanceof Error ? error.stack : error}`);
      const refusal = error instanceof Refusal ? error : new Refusal(500, 'The service failed.');
      deliver(response, errorAnswer(refusal), undefined);
    });
  };
}
