#!/usr/bin/env node
// The launcher: what has to happen before the bundle loads, then the bundle.
'use strict';

require('../dist/main.cjs').main(process);
