/** Exits 1 when the tracker is larger than its budget: every site pays for it on every first visit. */
import { BROTLI_BYTES_MAX, brotli, buildScript } from './build.ts'

const bytes = brotli(await buildScript('track')).length
const line = `the tracker is ${bytes} bytes of brotli; at most ${BROTLI_BYTES_MAX}`
if (bytes > BROTLI_BYTES_MAX) {
  console.error(line)
  process.exit(1)
}
console.log(line)
