// A sink that counts the lines written to it, and keeps those of one page.

import type { ByteSink } from '../io.ts';
import type { Page } from './answer.ts';

export class LineSink implements ByteSink {
  readonly isTTY = false;
  readonly columns = undefined;
  readonly lines: string[] = [];
  count = 0;
  #partial: string[] = [];
  readonly #page: Page;
  readonly #decoder = new TextDecoder();

  constructor(page: Page) {
    this.#page = page;
  }

  async write(data: string | Uint8Array): Promise<void> {
    const text = typeof data === 'string' ? data : this.#decoder.decode(data, { stream: true });
    const [first = '', ...rest] = text.split('\n');
    this.#partial.push(first);
    for (const start of rest) {
      const { skip, keep } = this.#page;
      const isKept = this.count >= skip && this.count < skip + keep;
      if (isKept) this.lines.push(this.#partial.join(''));
      this.#partial = [start];
      this.count += 1;
    }
  }
}
