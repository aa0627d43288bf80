// Declares parts of undici by path, so that the bundle holds only its HTTP/1.1 client, not fetch, mocks and caches.

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}
