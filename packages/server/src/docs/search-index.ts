import type { Source } from './contents.ts'
import type { Part, Rendered } from './markdown.ts'

/** What the search of the site finds: a part of a page, or an operation of the API. */
export interface SearchEntry {
  url: string
  /** The page's title. */
  page: string
  /** The heading of the part; null for the beginning of a page. */
  heading: string | null
  text: string
}

/** Generated lists, which would match every search. */
const NOT_SEARCHED = ['docs/interface-coverage.md', 'CHANGELOG.md']

interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
}

export function searchIndex(
  pages: readonly { source: Source; rendered: Rendered }[],
  api: { paths?: object },
): SearchEntry[] {
  const parts = pages
    .filter(({ source }) => !NOT_SEARCHED.includes(source.file))
    .flatMap(({ source, rendered }) => rendered.parts.map((part) => entryOf(source, part)))
  return [...parts, ...operationEntries(api)]
}

function entryOf(source: Source, { heading, anchor, text }: Part): SearchEntry {
  const url = anchor === null ? source.path : `${source.path}#${anchor}`
  return { url, page: source.title, heading: anchor === null ? null : heading, text }
}

function operationEntries({ paths = {} }: { paths?: object }): SearchEntry[] {
  return Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { summary = '', description = '', tags: [tag = ''] = [] }]) => ({
      url: `/docs/api#${operationAnchor(tag, method, path)}`,
      page: 'API reference',
      heading: `${method.toUpperCase()} ${path}`,
      text: [summary, description].filter((text) => text !== '').join('. '),
    })),
  )
}

/** The fragment under which the viewer of the API reference shows an operation. */
export function operationAnchor(tag: string, method: string, path: string): string {
  const slug = tag.toLowerCase().replaceAll(/\s+/g, '-')
  return `tag/${slug}/${method.toUpperCase()}${path}`
}
