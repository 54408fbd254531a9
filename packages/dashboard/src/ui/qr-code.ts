/** A QR code (ISO/IEC 18004): byte mode, error correction level M, the versions that an otpauth address needs. */

/** For each version from 1 on, at level M: error correction code words per block, and the number of blocks. */
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26]
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16]

const BYTE_MODE = 0b0100
/** From this version on, the length takes two bytes. */
const LONG_LENGTH_FROM = 10
const LEVEL_M = 0b00

type Grid = Uint8Array[]

/** The eight mask patterns, by row and column. */
const MASKS: ((y: number, x: number) => boolean)[] = [
  (y, x) => (x + y) % 2 === 0,
  (y) => y % 2 === 0,
  (_y, x) => x % 3 === 0,
  (y, x) => (x + y) % 3 === 0,
  (y, x) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (y, x) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (y, x) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (y, x) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

/** @returns rows of modules, true for a dark one, without the quiet zone; null if the text is too long. */
export function qrCode(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text)
  const version = BLOCKS.findIndex((_, index) => bytes.length <= capacity(index + 1)) + 1
  if (version === 0) return null
  const size = version * 4 + 17
  const codeWords = withCorrection(dataOf(bytes, version), version)
  const { grid: frame, isFunction } = frameOf(version, size)
  placeData(frame, isFunction, codeWords)
  let best: { grid: Grid; penalty: number } | undefined
  for (const [number, mask] of MASKS.entries()) {
    const grid = frame.map((row, y) => row.map((dark, x) => (isFunction[y]?.[x] ? dark : dark ^ Number(mask(y, x)))))
    placeFormat(grid, number)
    const penalty = penaltyOf(grid)
    if (!best || penalty < best.penalty) best = { grid, penalty }
  }
  return best ? best.grid.map((row) => Array.from(row, (dark) => dark === 1)) : null
}

/** The modules of a version for data and error correction. */
function rawModules(version: number): number {
  const aligned = Math.floor(version / 7) + 2
  const alignment = version === 1 ? 0 : (25 * aligned - 10) * aligned - 55
  return (16 * version + 128) * version + 64 - alignment - (version >= 7 ? 36 : 0)
}

function dataLength(version: number): number {
  return Math.floor(rawModules(version) / 8) - (CORRECTION[version - 1] ?? 0) * (BLOCKS[version - 1] ?? 0)
}

function capacity(version: number): number {
  return dataLength(version) - (version < LONG_LENGTH_FROM ? 2 : 3)
}

/** Mode, length and bytes, padded. */
function dataOf(bytes: Uint8Array, version: number): Uint8Array {
  const bits: number[] = []
  const push = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >>> bit) & 1)
  }
  push(BYTE_MODE, 4)
  push(bytes.length, version < LONG_LENGTH_FROM ? 8 : 16)
  for (const byte of bytes) push(byte, 8)
  const length = dataLength(version)
  push(0, Math.min(4, length * 8 - bits.length))
  while (bits.length % 8 !== 0) bits.push(0)
  for (let pad = 0xec; bits.length < length * 8; pad ^= 0xec ^ 0x11) push(pad, 8)
  return Uint8Array.from({ length }, (_, index) =>
    bits.slice(index * 8, index * 8 + 8).reduce((byte, bit) => (byte << 1) | bit, 0),
  )
}

/** Splits the data into blocks, adds error correction to each, and interleaves them. */
function withCorrection(data: Uint8Array, version: number): number[] {
  const correction = CORRECTION[version - 1] ?? 0
  const count = BLOCKS[version - 1] ?? 1
  const shortLength = Math.floor(data.length / count)
  const longFrom = count - (data.length % count)
  const divisor = divisorOf(correction)
  let at = 0
  const blocks = Array.from({ length: count }, (_, index) => {
    const block = data.subarray(at, at + shortLength + (index >= longFrom ? 1 : 0))
    at += block.length
    return { block, rest: remainder(block, divisor) }
  })
  const words: number[] = []
  for (let index = 0; index <= shortLength; index++) {
    for (const { block } of blocks) if (index < block.length) words.push(block[index] ?? 0)
  }
  for (let index = 0; index < correction; index++) for (const { rest } of blocks) words.push(rest[index] ?? 0)
  return words
}

/** Product in the field of 256 elements with the polynomial 0x11D. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d)
    product ^= ((b >>> bit) & 1) * a
  }
  return product
}

function divisorOf(degree: number): number[] {
  const result = [...Array<number>(degree - 1).fill(0), 1]
  let root = 1
  for (let step = 0; step < degree; step++) {
    for (let index = 0; index < degree; index++) {
      result[index] = multiply(result[index] ?? 0, root) ^ (result[index + 1] ?? 0)
    }
    root = multiply(root, 2)
  }
  return result
}

function remainder(data: Uint8Array, divisor: number[]): number[] {
  const rest = Array<number>(divisor.length).fill(0)
  for (const byte of data) {
    const factor = byte ^ (rest.shift() ?? 0)
    rest.push(0)
    for (const [index, coefficient] of divisor.entries())
      rest[index] = (rest[index] ?? 0) ^ multiply(coefficient, factor)
  }
  return rest
}

/** The parts that are the same for all texts of a version; the format bits are reserved. */
function frameOf(version: number, size: number): { grid: Grid; isFunction: Grid } {
  const grid = Array.from({ length: size }, () => new Uint8Array(size))
  const isFunction = Array.from({ length: size }, () => new Uint8Array(size))
  const set = (y: number, x: number, isDark: boolean) => {
    const row = grid[y]
    const functions = isFunction[y]
    if (!row || !functions || x < 0 || x >= size) return
    row[x] = Number(isDark)
    functions[x] = 1
  }
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }
  const isCornerDark = (distance: number) => distance !== 2 && distance !== 4
  square(set, 3, 3, 4, isCornerDark)
  square(set, 3, size - 4, 4, isCornerDark)
  square(set, size - 4, 3, 4, isCornerDark)
  const centers = alignmentCenters(version, size)
  for (const [row, y] of centers.entries()) {
    for (const [column, x] of centers.entries()) {
      const last = centers.length - 1
      const isCorner = (row === 0 && (column === 0 || column === last)) || (row === last && column === 0)
      if (!isCorner) square(set, y, x, 2, (distance) => distance !== 1)
    }
  }
  for (let at = 0; at < 9; at++) {
    if (at !== 6) {
      set(8, at, false)
      set(at, 8, false)
    }
    if (at < 8) {
      set(8, size - 1 - at, false)
      set(size - 1 - at, 8, false)
    }
  }
  set(size - 8, 8, true)
  if (version >= 7) {
    const bits = (version << 12) | checked(version, 12, 0x1f25)
    for (let at = 0; at < 18; at++) {
      const isDark = ((bits >>> at) & 1) === 1
      const along = size - 11 + (at % 3)
      set(Math.floor(at / 3), along, isDark)
      set(along, Math.floor(at / 3), isDark)
    }
  }
  return { grid, isFunction }
}

type Set = (y: number, x: number, isDark: boolean) => void

function square(set: Set, y: number, x: number, radius: number, isDark: (distance: number) => boolean): void {
  for (let dy = -radius; dy <= radius; dy++) {
    for (let dx = -radius; dx <= radius; dx++) set(y + dy, x + dx, isDark(Math.max(Math.abs(dy), Math.abs(dx))))
  }
}

function alignmentCenters(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.ceil((size - 13) / (count * 2 - 2)) * 2
  return [6, ...Array.from({ length: count - 1 }, (_, index) => size - 7 - (count - 2 - index) * step)]
}

/** The remainder of a polynomial division, with which readers correct errors. */
function checked(value: number, length: number, polynomial: number): number {
  let rest = value
  for (let bit = 0; bit < length; bit++) rest = (rest << 1) ^ ((rest >>> (length - 1)) * polynomial)
  return rest
}

/** Two columns at a time, alternately up and down, from the right. */
function placeData(grid: Grid, isFunction: Grid, words: number[]): void {
  const size = grid.length
  let bit = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    const isUpward = ((right + 1) & 2) === 0
    for (let step = 0; step < size; step++) {
      const y = isUpward ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        const row = grid[y]
        if (!row || isFunction[y]?.[x]) continue
        row[x] = ((words[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1
        bit++
      }
    }
  }
}

function placeFormat(grid: Grid, mask: number): void {
  const size = grid.length
  const data = (LEVEL_M << 3) | mask
  const bits = ((data << 10) | checked(data, 10, 0x537)) ^ 0x5412
  const set = (y: number, x: number, at: number) => {
    const row = grid[y]
    if (row) row[x] = (bits >>> at) & 1
  }
  for (let at = 0; at < 15; at++) {
    // Around the upper left corner, skipping the timing lines; the second copy is split between the other two corners.
    if (at < 8) set(at < 6 ? at : at + 1, 8, at)
    else set(8, at === 8 ? 7 : 14 - at, at)
    if (at < 8) set(8, size - 1 - at, at)
    else set(size - 15 + at, 8, at)
  }
}

/** The penalty score: long runs, blocks, patterns like a finder, and an unbalanced number of dark modules. */
function penaltyOf(grid: Grid): number {
  const size = grid.length
  const columns = grid.map((_, x) => Uint8Array.from(grid, (row) => row[x] ?? 0))
  let penalty = 0
  for (const line of [...grid, ...columns]) {
    const text = line.join('')
    for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2
    penalty += 40 * [...text.matchAll(/(?=10111010000|00001011101)/g)].length
  }
  let dark = 0
  for (const [y, row] of grid.entries()) {
    for (const [x, module] of row.entries()) {
      dark += module
      const below = grid[y + 1]
      if (below && x + 1 < size && row[x + 1] === module && below[x] === module && below[x + 1] === module) penalty += 3
    }
  }
  return penalty + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10))
}
