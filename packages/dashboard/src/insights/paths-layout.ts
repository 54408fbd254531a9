import type { PathLink, PathNode } from '../api/types.ts'

/** At most so many nodes of a step are drawn, the largest ones; the others are in the table. */
const NODES_DRAWN = 10
const GAP = 22
const NODE_WIDTH = 10

export interface DrawnNode extends PathNode {
  x: number
  y: number
  width: number
  height: number
}

export interface DrawnLink extends PathLink {
  /** The middle line of a band, and its width. */
  path: string
  width: number
}

/**
 * Places the nodes of each step in a column, largest first, and links as bands whose widths are as the counts.
 * @returns hidden: how many nodes have no place
 */
export function layoutOf(
  { nodes, links }: { nodes: readonly PathNode[]; links: readonly PathLink[] },
  width: number,
  height: number,
): { nodes: DrawnNode[]; links: DrawnLink[]; hidden: number } {
  const steps = [...new Set(nodes.map(({ step }) => step))].sort((a, b) => a - b)
  const columns = steps.map((step) =>
    nodes
      .filter((node) => node.step === step)
      .toSorted((a, b) => b.count - a.count)
      .slice(0, NODES_DRAWN),
  )
  const sums = columns.map((column) => column.reduce((sum, { count }) => sum + count, 0))
  const perCount = Math.min(
    ...columns.map((column, index) => (height - GAP * column.length) / Math.max(1, sums[index] ?? 1)),
  )
  const between = width / Math.max(1, columns.length)
  const placed = new Map<string, DrawnNode>()
  for (const [index, column] of columns.entries()) {
    let y = GAP
    for (const node of column) {
      const tall = Math.max(2, node.count * perCount)
      placed.set(keyOf(node), { ...node, x: index * between, y, width: NODE_WIDTH, height: tall })
      y += tall + GAP
    }
  }
  return { nodes: [...placed.values()], links: bandsOf(links, placed, perCount), hidden: nodes.length - placed.size }
}

const keyOf = ({ step, name }: { step: number; name: string }) => JSON.stringify([step, name])

/** Bands leave and enter a node one below the other, in the order of their other ends. */
function bandsOf(links: readonly PathLink[], placed: ReadonlyMap<string, DrawnNode>, perCount: number): DrawnLink[] {
  const between = links.flatMap((link) => {
    const from = placed.get(keyOf({ step: link.step, name: link.from }))
    const to = placed.get(keyOf({ step: link.step + 1, name: link.to }))
    return from && to ? [{ link, from, to, width: Math.max(1, link.count * perCount) }] : []
  })
  const [left, entered] = [new Map<DrawnNode, number>(), new Map<DrawnNode, number>()]
  const take = (used: Map<DrawnNode, number>, node: DrawnNode, width: number) => {
    const before = used.get(node) ?? 0
    used.set(node, before + width)
    return node.y + before + width / 2
  }
  const starts = new Map(
    between.toSorted((a, b) => a.to.y - b.to.y).map((band) => [band, take(left, band.from, band.width)]),
  )
  const ends = new Map(
    between.toSorted((a, b) => a.from.y - b.from.y).map((band) => [band, take(entered, band.to, band.width)]),
  )
  return between.map((band) => {
    const [x1, x2] = [band.from.x + band.from.width, band.to.x]
    const [y1 = 0, y2 = 0] = [starts.get(band), ends.get(band)]
    const middle = (x1 + x2) / 2
    return { ...band.link, width: band.width, path: `M${x1},${y1}C${middle},${y1} ${middle},${y2} ${x2},${y2}` }
  })
}
