// Declares the part of undici that the bundle holds: its HTTP/1.1 client.

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici';

  export default Pool;
}
