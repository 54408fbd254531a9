/** Where a tile is: its first column and row, and how many it covers. */
export interface Place {
  x: number
  y: number
  width: number
  height: number
}

interface Keyed extends Place {
  key: string
}

/** The service's limits. */
export const COLUMNS = 12
const HEIGHT_MAX = 50
/** Narrower tiles have no place for their names. */
const WIDTH_MIN = 2

/** Tiles without gaps above them, and without overlaps. Their order in the list stays. */
export function arranged<Item extends Keyed>(items: readonly Item[]): Item[] {
  return stacked(
    items.toSorted((a, b) => a.y - b.y || a.x - b.x),
    items,
  )
}

/** The same around a tile that somebody holds: it goes first where two are alike. */
function arrangedAround<Item extends Keyed>(
  held: string,
  items: readonly Item[],
  heightOf: (item: Place) => number,
): Item[] {
  const isOther = ({ key }: Item) => Number(key !== held)
  return stacked(
    items.toSorted((a, b) => heightOf(a) - heightOf(b) || isOther(a) - isOther(b) || a.x - b.x),
    items,
  )
}

/** Each tile moves up to the lowest one above it that comes before it. */
function stacked<Item extends Keyed>(order: readonly Item[], items: readonly Item[]): Item[] {
  const ys = new Map<Item, number>()
  for (const item of order)
    ys.set(
      item,
      bottomAt(
        [...ys.keys()].map((above) => at(above, ys)),
        item,
      ),
    )
  return items.map((item) => at(item, ys))
}

function at<Item extends Keyed>(item: Item, ys: ReadonlyMap<Item, number>): Item {
  const y = ys.get(item) ?? item.y
  return y === item.y ? item : { ...item, y }
}

/** A tile passes another one when its middle does. */
function middleOf({ y, height }: Place): number {
  return y + height / 2
}

/** The first row below all tiles that share a column with a place. */
function bottomAt(items: readonly Place[], { x, width }: Pick<Place, 'x' | 'width'>): number {
  const above = items.filter((item) => item.x < x + width && x < item.x + item.width)
  return Math.max(0, ...above.map((item) => item.y + item.height))
}

/** Puts a tile at a column and a row, as far as it fits; the others make room. */
export function putAt<Item extends Keyed>(
  items: readonly Item[],
  key: string,
  { x, y }: Pick<Place, 'x' | 'y'>,
): Item[] {
  const placed = items.map((item) =>
    item.key === key ? { ...item, x: within(x, 0, COLUMNS - item.width), y: Math.max(0, y) } : item,
  )
  return arrangedAround(key, placed, middleOf)
}

/** Moves a tile by one step: to the next column, or to the next row where that makes a difference. */
export function moved<Item extends Keyed>(items: readonly Item[], key: string, right: number, down: number): Item[] {
  const item = items.find((each) => each.key === key)
  if (!item) return [...items]
  const before = JSON.stringify(items)
  const farthest = down < 0 ? item.y : bottomAt(items, { x: 0, width: COLUMNS })
  for (let step = 1; step <= Math.max(1, farthest); step++) {
    const changed = putAt(items, key, { x: item.x + right, y: item.y + down * step })
    if (down === 0 || JSON.stringify(changed) !== before) return changed
  }
  return [...items]
}

/** Gives a tile another size, as far as the grid allows; the others make room. */
export function resizedTo<Item extends Keyed>(
  items: readonly Item[],
  key: string,
  { width, height }: Pick<Place, 'width' | 'height'>,
): Item[] {
  const resized = items.map((item) =>
    item.key === key
      ? { ...item, width: within(width, WIDTH_MIN, COLUMNS - item.x), height: within(height, 1, HEIGHT_MAX) }
      : item,
  )
  return arrangedAround(key, resized, ({ y }) => y)
}

/** The highest place with room for a tile of some size. */
export function freePlace(items: readonly Place[], { width, height }: Pick<Place, 'width' | 'height'>): Place {
  const places = Array.from({ length: COLUMNS - width + 1 }, (_, x) => ({ x, y: bottomAt(items, { x, width }) }))
  const [first = { x: 0, y: 0 }] = places.toSorted((a, b) => a.y - b.y || a.x - b.x)
  return { ...first, width, height }
}

/** As people read: from row to row. */
export function inReadingOrder<Item extends Place>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => a.y - b.y || a.x - b.x)
}

function within(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(value, max))
}
