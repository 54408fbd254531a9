import { IS_SOMEBODY, isCounted, ofList, visitsOf, WEB_LISTS, type WebList, type WebQuery } from './web-visits.ts'

/** What is counted of some visits. */
export interface VisitFigures {
  people: number
  visits: number
  page_views: number
  /** The part with a single page view, and the average time; null of no visits. */
  bounce_rate: number | null
  visit_seconds: number | null
}

export interface ListRow extends VisitFigures {
  value: string | null
}

export interface WebFound {
  total: VisitFigures
  /** One for each interval. */
  points: VisitFigures[]
  lists: Partial<Record<WebList, ListRow[]>>
  more: Partial<Record<WebList, number>>
  outsideVisits: number
}

const NOTHING: VisitFigures = { people: 0, visits: 0, page_views: 0, bounce_rate: null, visit_seconds: null }

/** What visits are grouped by: numbers, as grouping by names takes longer. */
const [TOTAL, INTERVAL, OUTSIDE, FIRST_LIST] = [0, 1, 2, 3]

function numberOf(list: WebList): number {
  return WEB_LISTS.indexOf(list) + FIRST_LIST
}

/** Lists that leave out visits without a value: most visits have no campaign, and those rows would cost the most. */
const WITH_VALUE: readonly WebList[] = [
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'] as const),
  ...(['region', 'city'] as const),
]

interface Row {
  list: number
  value: string
  people: number | string
  visits: number | string
  page_views: number | string
  bounces: number | string
  milliseconds: number | string
  values: number | string
}

/** The figures of visits: of all, of each interval, and of the largest values of each list, in one pass. */
export async function readFigures(query: WebQuery, lists: readonly WebList[], limit: number): Promise<WebFound> {
  const { asked, intervals, only } = query
  const slot = (number: number | string, value: string) => `(toUInt8(${number}), ${value}, views)`
  // A visit counts once in each of these, with so many of its page views.
  const slots = [
    // Of page views outside of visits, only this one counts.
    slot(`if(is_visit, ${TOTAL}, ${OUTSIDE})`, "''"),
    slot(INTERVAL, `toString(${intervals.indexInSql})`),
    ...lists.filter((list) => list !== 'page').map((list) => slot(numberOf(list), ofList(list))),
  ].join(', ')
  const paths = ofList('page')
  const pages = `arrayMap(path -> (toUInt8(${numberOf('page')}), path, countEqual(${paths}, path)), arrayDistinct(${paths}))`
  const ofVisit = lists.includes('page') ? `arrayConcat([${slots}], ${pages})` : `[${slots}]`
  const rows = await asked.tenant.events.select<Row>({
    ...visitsOf(query, { lists }),
    outer: {
      columns: `arrayJoin(${ofVisit}) AS slot, is_visit, views AS all_views,
        if(${IS_SOMEBODY}, cityHash64(person), 0) AS who, toUnixTimestamp64Milli(ended) - toUnixTimestamp64Milli(began) AS spent`,
      where: only.length > 0 ? isCounted(query) : 'views > 0',
      outer: {
        columns: `any(tupleElement(slot, 1)) AS list, any(tupleElement(slot, 2)) AS value, uniqExactIf(who, who != 0) AS people,
          count() AS visits, sum(tupleElement(slot, 3)) AS page_views, countIf(all_views = 1) AS bounces, sum(spent) AS milliseconds`,
        where: `(is_visit OR tupleElement(slot, 1) = ${OUTSIDE})
          AND (tupleElement(slot, 2) != '' OR tupleElement(slot, 1) NOT IN (${WITH_VALUE.map(numberOf).join(', ')}))`,
        groupBy: 'cityHash64(tupleElement(slot, 1), tupleElement(slot, 2))',
        outer: {
          columns: `*, row_number() OVER (PARTITION BY list ORDER BY people DESC, value = '', value) AS rank,
            count() OVER (PARTITION BY list) AS values`,
          outer: {
            columns: 'list, value, people, visits, page_views, bounces, milliseconds, values',
            where: `rank <= ${Math.trunc(limit)} OR list IN (${TOTAL}, ${INTERVAL})`,
            orderBy: 'list, rank',
          },
        },
      },
    },
  })
  const rowsOf = Map.groupBy(rows, ({ list }) => Number(list))
  const ofInterval = new Map(rowsOf.get(INTERVAL)?.map((row) => [Number(row.value), figuresOf(row)]))
  const total = rowsOf.get(TOTAL)?.[0]
  return {
    total: total ? figuresOf(total) : NOTHING,
    points: intervals.keys.map((_, at) => ofInterval.get(at) ?? NOTHING),
    lists: Object.fromEntries(
      lists.map((list) => [
        list,
        (rowsOf.get(numberOf(list)) ?? []).map((row) => ({
          value: row.value === '' ? null : row.value,
          ...figuresOf(row),
        })),
      ]),
    ),
    more: Object.fromEntries(
      lists.map((list) => {
        const found = rowsOf.get(numberOf(list)) ?? []
        return [list, Number(found[0]?.values ?? 0) - found.length]
      }),
    ),
    outsideVisits: Number(rowsOf.get(OUTSIDE)?.[0]?.page_views ?? 0),
  }
}

function figuresOf({ people, visits, page_views, bounces, milliseconds }: Row): VisitFigures {
  const count = Number(visits)
  return {
    people: Number(people),
    visits: count,
    page_views: Number(page_views),
    bounce_rate: Number(bounces) / count,
    visit_seconds: Number(milliseconds) / 1_000 / count,
  }
}
