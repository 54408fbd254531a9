import { expect, test } from 'vitest'
import { arranged, freePlace, inReadingOrder, moved, putAt, resizedTo } from '../src/insights/dashboards/grid-layout.ts'

const tile = (key: string, x: number, y: number, width: number, height: number) => ({ key, x, y, width, height })
const drawn = (items: readonly ReturnType<typeof tile>[]) =>
  items.map(({ key, x, y, width, height }) => `${key} ${x},${y} ${width}x${height}`)

const TILES = [tile('a', 0, 0, 6, 4), tile('b', 6, 0, 6, 2), tile('c', 0, 4, 12, 1)]

test('tiles have no gaps above them and do not overlap, and stay in their order', () => {
  const loose = [tile('c', 0, 9, 12, 1), tile('a', 0, 0, 6, 4), tile('b', 4, 1, 6, 2)]
  expect(drawn(arranged(loose))).toEqual(['c 0,6 12x1', 'a 0,0 6x4', 'b 4,4 6x2'])
  expect(arranged(TILES)).toEqual(TILES)
})

test('a tile moves by a column, and by rows until that changes something; the others make room', () => {
  expect(drawn(moved(TILES, 'b', -1, 0))).toEqual(['a 0,2 6x4', 'b 5,0 6x2', 'c 0,6 12x1'])
  expect(drawn(moved(TILES, 'c', 0, -1))).toEqual(['a 0,3 6x4', 'b 6,0 6x2', 'c 0,2 12x1'])
  expect(drawn(moved(TILES, 'a', 0, 1))).toEqual(['a 0,3 6x4', 'b 6,0 6x2', 'c 0,2 12x1'])
  // At the edges there is nowhere to go.
  expect(moved(TILES, 'a', -1, 0)).toEqual(TILES)
  expect(moved(TILES, 'a', 0, -1)).toEqual(TILES)
  expect(moved(TILES, 'b', 1, 0)).toEqual(TILES)
  expect(moved(TILES, 'none', 1, 0)).toEqual(TILES)
})

test('a tile is put where the pointer is, within the grid', () => {
  expect(drawn(putAt(TILES, 'b', { x: 40, y: 30 }))).toEqual(['a 0,0 6x4', 'b 6,5 6x2', 'c 0,4 12x1'])
  expect(drawn(putAt(TILES, 'c', { x: -3, y: -3 }))).toEqual(['a 0,1 6x4', 'b 6,1 6x2', 'c 0,0 12x1'])
})

test('a tile is resized within the grid', () => {
  expect(drawn(resizedTo(TILES, 'a', { width: 8, height: 2 }))).toEqual(['a 0,0 8x2', 'b 6,2 6x2', 'c 0,4 12x1'])
  expect(drawn(resizedTo(TILES, 'b', { width: 99, height: 0 }))).toEqual(['a 0,0 6x4', 'b 6,0 6x1', 'c 0,4 12x1'])
  expect(drawn(resizedTo(TILES, 'b', { width: 0, height: 99 }))).toEqual(['a 0,0 6x4', 'b 6,0 2x50', 'c 0,50 12x1'])
})

test('a new tile gets the highest place with room, and tiles are read row by row', () => {
  expect(freePlace([], { width: 3, height: 2 })).toEqual({ x: 0, y: 0, width: 3, height: 2 })
  expect(freePlace(TILES.slice(0, 2), { width: 3, height: 2 })).toEqual({ x: 6, y: 2, width: 3, height: 2 })
  expect(inReadingOrder([TILES[2], TILES[1], TILES[0]].flatMap((each) => each ?? [])).map(({ key }) => key)).toEqual([
    'a',
    'b',
    'c',
  ])
})
