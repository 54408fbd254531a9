import {
  ENTRY_VALUES,
  IS_SOMEBODY,
  isCounted,
  letterOf,
  ofList,
  visitsOf,
  type WebList,
  type WebQuery,
} from './web-visits.ts'

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

/**
 * What a visit counts in is a _slot_: the letter of a list and a value, or one of these letters and what it is of. One text is
 * copied and grouped faster than a number and a text.
 */
const [TOTAL, INTERVAL, OUTSIDE] = ['T', 'I', 'O']

/** Lists that leave out visits without a value: most visits have no campaign, and those rows would cost the most. */
const WITH_VALUE: readonly WebList[] = [
  ...(['utm_source', 'utm_medium', 'utm_campaign', 'utm_content', 'utm_term'] as const),
  ...(['region', 'city'] as const),
]

interface Row {
  list: string
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
  const { derived = [], ...visits } = visitsOf(query, { lists })
  const [slot, nth] = ['tupleElement(slot, 1)', 'tupleElement(slot, 2)']
  const withoutValue = WITH_VALUE.map((list) => `'${letterOf(list)}'`).join(', ')
  const rows = await asked.tenant.events.select<Row>({
    ...visits,
    derived: [...derived, `${slotsOf(lists, intervals.indexInSql)} AS slots`],
    outer: {
      // A page that a visit viewed twice is there twice.
      columns: `arrayJoin(arrayZip(slots, arrayEnumerateUniq(slots))) AS slot, views, is_visit,
        if(${IS_SOMEBODY}, cityHash64(person), 0) AS who, toUnixTimestamp64Milli(ended) - toUnixTimestamp64Milli(began) AS spent`,
      where: only.length > 0 ? isCounted(query) : 'views > 0',
      outer: {
        columns: `${slot} AS name, uniqExactIf(who, who != 0) AS people, countIf(${nth} = 1) AS visits,
          sum(if(startsWith(${slot}, '${letterOf('page')}'), 1, views)) AS page_views,
          countIf(${nth} = 1 AND views = 1) AS bounces, sumIf(spent, ${nth} = 1) AS milliseconds`,
        // Of page views outside of visits, only their number counts. Lengths are compared faster than texts.
        where: `(is_visit OR ${slot} = '${OUTSIDE}') AND (length(${slot}) > 1 OR ${slot} NOT IN (${withoutValue}))`,
        groupBy: 'name',
        outer: {
          columns: '*, substring(name, 1, 1) AS list, substring(name, 2) AS value',
          outer: {
            columns: `*, row_number() OVER (PARTITION BY list ORDER BY people DESC, value = '', value) AS rank,
              count() OVER (PARTITION BY list) AS values`,
            outer: {
              columns: 'list, value, people, visits, page_views, bounces, milliseconds, values',
              where: `rank <= ${Math.trunc(limit)} OR list IN ('${TOTAL}', '${INTERVAL}')`,
              orderBy: 'list, rank',
            },
          },
        },
      },
    },
  })
  const rowsOf = Map.groupBy(rows, ({ list }) => list)
  const ofInterval = new Map(rowsOf.get(INTERVAL)?.map((row) => [Number(row.value), figuresOf(row)]))
  const total = rowsOf.get(TOTAL)?.[0]
  return {
    total: total ? figuresOf(total) : NOTHING,
    points: intervals.keys.map((_, at) => ofInterval.get(at) ?? NOTHING),
    lists: Object.fromEntries(
      lists.map((list) => [
        list,
        (rowsOf.get(letterOf(list)) ?? []).map((row) => ({
          value: row.value === '' ? null : row.value,
          ...figuresOf(row),
        })),
      ]),
    ),
    more: Object.fromEntries(
      lists.map((list) => {
        const found = rowsOf.get(letterOf(list)) ?? []
        return [list, Number(found[0]?.values ?? 0) - found.length]
      }),
    ),
    outsideVisits: Number(rowsOf.get(OUTSIDE)?.[0]?.page_views ?? 0),
  }
}

/** The slots of a visit. */
function slotsOf(lists: readonly WebList[], interval: string): string {
  const own = [
    `if(is_visit, '${TOTAL}', '${OUTSIDE}')`,
    `concat('${INTERVAL}', toString(${interval}))`,
    ...(lists.includes('exit_page') ? [`concat('${letterOf('exit_page')}', ${ofList('exit_page')})`] : []),
  ]
  const pages = `arrayMap(path -> concat('${letterOf('page')}', path), ${ofList('page')})`
  const all = [`[${own.join(', ')}]`, ENTRY_VALUES, ...(lists.includes('page') ? [pages] : [])]
  return `arrayConcat(${all.join(', ')})`
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
