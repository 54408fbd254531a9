/** Exits with 1 if the tracker exceeds its budget: every first visit to a site downloads it. */
import { BROTLI_BYTES_MAX, brotli, buildScript } from './build.ts'

const bytes = brotli(await buildScript('track')).length
const line = `the tracker has ${bytes} bytes in brotli; the limit is ${BROTLI_BYTES_MAX}`
if (bytes > BROTLI_BYTES_MAX) {
  console.error(line)
  process.exit(1)
}
console.log(line)
