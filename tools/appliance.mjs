// Writes a package for tools that show or test a sync.

import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes an OVF package without disks; its manifest prevents a warning. */
export function writeAppliance(folder) {
  const ovf = `<?xml version="1.0"?>
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1">
  <References/>
  <VirtualSystem ovf:id="appliance"><Info>An appliance</Info></VirtualSystem>
</Envelope>
`;
  const digest = createHash('sha256').update(ovf).digest('hex');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'appliance.ovf'), ovf);
  writeFileSync(join(folder, 'appliance.mf'), `SHA256(appliance.ovf)= ${digest}\n`);
}
