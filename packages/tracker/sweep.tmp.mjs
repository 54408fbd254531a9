import { readFileSync } from 'node:fs'
import { brotli } from '/work/w-tracker/packages/tracker/build.ts'

const s = readFileSync('/tmp/t2.js', 'utf8').trim()
const base = brotli(s).length
console.log(base)
const pieces = process.argv.slice(2)
for (const p of pieces) {
  if (!s.includes(p)) console.log('?', p)
  else console.log(base - brotli(s.replace(p, '')).length, p.length, p.slice(0, 60))
}
