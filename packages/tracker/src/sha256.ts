import { hex } from './ids.ts'

type State = [number, number, number, number, number, number, number, number]

/** SHA-256 of a Latin-1 text, in hexadecimal. Our own, because `crypto.subtle` is missing on plain HTTP. */
export function sha256(text: string): string {
  const roots: number[] = []
  let hash = [] as unknown as State
  for (let candidate = 2; roots.length < 64; candidate++) {
    let factor = 2
    while (candidate % factor) factor++
    if (factor < candidate) continue
    if (roots.length < 8) hash.push((candidate ** (1 / 2) * 2 ** 32) | 0)
    roots.push((candidate ** (1 / 3) * 2 ** 32) | 0)
  }
  let padded = `${text}\x80`
  while (padded.length % 64 !== 56) padded += '\0'
  const words: number[] = []
  for (let i = 0; i < padded.length; i++) {
    words[i >> 2] = at(words, i >> 2) | ((padded.charCodeAt(i) & 255) << (24 - (i % 4) * 8))
  }
  words.push(0, text.length * 8)
  while (words.length > 0) {
    const before = hash
    const w = words.splice(0, 16)
    for (let i = 0; i < 64; i++) {
      if (i > 15) {
        const early = at(w, i - 15)
        const late = at(w, i - 2)
        const small = turn(early, 7) ^ turn(early, 18) ^ (early >>> 3)
        w[i] = (small + (turn(late, 17) ^ turn(late, 19) ^ (late >>> 10)) + at(w, i - 16) + at(w, i - 7)) | 0
      }
      const [a, b, c, d, e, f, g, h] = hash
      const one = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + at(roots, i) + at(w, i)
      const two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      hash = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g]
    }
    hash = hash.map((word, i) => (word + at(before, i)) | 0) as State
  }
  return hash.map((word) => hex(word >>> 0, 8)).join('')
}

function at(list: number[], index: number): number {
  return list[index] as number
}

function turn(value: number, by: number): number {
  return (value >>> by) | (value << (32 - by))
}
