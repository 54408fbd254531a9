const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })

/** Items by days in the reader's time zone, in their order. */
export function byDay<Item>(items: readonly Item[], timeOf: (item: Item) => string): Map<string, Item[]> {
  return Map.groupBy(items, (item) => DAY.format(new Date(timeOf(item))))
}
