/** The service stores no longer address. A longer text may be hostile: decoding takes the square of its length. */
const ADDRESS_LENGTH_MAX = 254
const ADDRESS = /^([^@\s]+@)([^@\s]*\bxn--[^@\s]*)$/i
const [BASE, T_MIN, T_MAX, SKEW, DAMP, FIRST_BIAS, FIRST_POINT] = [36, 1, 26, 38, 700, 72, 128]

/**
 * An email address with its domain as people write it: the service stores it in punycode. Browsers convert only in the
 * other direction. Every other text stays as it is.
 */
export function readableAddress(text: string): string {
  if (text.length > ADDRESS_LENGTH_MAX) return text
  const [, local, domain] = ADDRESS.exec(text) ?? []
  if (local === undefined || domain === undefined) return text
  return local + domain.split('.').map(readableLabel).join('.')
}

/** Decodes a label (RFC 3492). One that is no punycode stays as it is. */
function readableLabel(label: string): string {
  if (!/^xn--[a-z0-9-]+$/i.test(label)) return label
  const code = label.slice(4).toLowerCase()
  const end = code.lastIndexOf('-')
  const points = [...code.slice(0, Math.max(end, 0))].map((character) => character.codePointAt(0) ?? 0)
  let [point, index, bias, at] = [FIRST_POINT, 0, FIRST_BIAS, end + 1]
  while (at < code.length) {
    const before = index
    for (let [weight, k] = [1, BASE]; ; k += BASE) {
      const digit = Number.parseInt(code[at] ?? '', 36)
      // The digits of punycode begin with the letters: a is 0, and 0 is 26.
      const value = digit >= 10 ? digit - 10 : digit + 26
      if (Number.isNaN(value) || index > 0x7fffffff) return label
      at++
      index += value * weight
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias))
      if (value < threshold) break
      weight *= BASE - threshold
    }
    const size = points.length + 1
    bias = adapted(index - before, size, before === 0)
    point += Math.floor(index / size)
    index %= size
    if (point > 0x10ffff) return label
    points.splice(index, 0, point)
    index++
  }
  return String.fromCodePoint(...points)
}

function adapted(delta: number, size: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2))
  rest += Math.floor(rest / size)
  let k = 0
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN))
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW))
}

/** The host of an address as copied from a browser, with or without scheme, port and path; else the text itself. */
export function hostOf(text: string): string {
  const url = URL.parse(/^https?:\/\//i.test(text) ? text : `http://${text}`)
  return url?.hostname || text
}
