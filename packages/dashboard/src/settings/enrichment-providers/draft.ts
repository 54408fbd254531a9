import type { AnswerMapping, EnrichmentProvider } from '../../api/types.ts'

/** A mapping as rows: what is filled, and the path of its value. */
export interface MappingRow {
  target: string
  path: string
}

/** A header or a secret. */
export interface Pair {
  name: string
  value: string
}

/** A provider as it is typed. */
export interface Draft {
  kind: EnrichmentProvider['kind']
  name: string
  key: string
  url: string
  headers: Pair[]
  secrets: Pair[]
  /** null: the mapping has more than rows show, and stays. */
  rows: MappingRow[] | null
  budget: string
}

export const NEW: Draft = {
  kind: 'hunter',
  name: '',
  key: '',
  url: '',
  headers: [],
  secrets: [],
  rows: [{ target: '', path: '' }],
  budget: '',
}

export function draftOf(provider: EnrichmentProvider): Draft {
  return {
    kind: provider.kind,
    name: provider.name,
    key: '',
    url: provider.url,
    headers: provider.headers,
    secrets: provider.secret_names.map((name) => ({ name, value: '' })),
    rows: rowsOf(provider.mapping),
    budget: provider.monthly_budget === null ? '' : String(provider.monthly_budget),
  }
}

/** The settings of a draft, as they are sent. @param before the names of the secrets that the provider has */
export function settingsOf(draft: Draft, before: readonly string[] = []) {
  const budget = draft.budget.trim()
  const common = { name: draft.name.trim(), monthly_budget: budget === '' ? null : Number(budget) }
  if (draft.kind !== 'http') {
    const key = draft.key.trim()
    return { ...common, ...(key === '' ? {} : { secrets: { api_key: key } }) }
  }
  const typed = draft.secrets.flatMap(({ name, value }): [string, string | null][] =>
    value.trim() === '' ? [] : [[name.trim(), value.trim()]],
  )
  const left = new Set(draft.secrets.map(({ name }) => name.trim()))
  const removed = before.flatMap((name): [string, string | null][] => (left.has(name) ? [] : [[name, null]]))
  return {
    ...common,
    url: draft.url.trim(),
    headers: draft.headers.filter(({ name }) => name.trim() !== ''),
    secrets: Object.fromEntries([...typed, ...removed]),
    ...(draft.rows === null ? {} : { mapping: mappingOf(draft.rows) }),
  }
}

const OF_COMPANY = 'company.'

function mappingOf(rows: readonly MappingRow[]): AnswerMapping {
  const filled = rows
    .map(({ target, path }) => ({ target: target.trim(), path: path.trim() }))
    .filter(({ target, path }) => target !== '' && path !== '')
  const contact = filled.filter(({ target }) => !target.startsWith(OF_COMPANY))
  const company = filled.flatMap(({ target, path }) =>
    target.startsWith(OF_COMPANY) ? [{ key: target.slice(OF_COMPANY.length), path }] : [],
  )
  const of = (key: string) => company.find((each) => each.key === key)?.path
  const [domain, name] = [of('domain'), of('name')]
  const others = company.filter(({ key }) => key !== 'domain' && key !== 'name')
  return {
    ...(contact.length === 0
      ? {}
      : { contact: { properties: Object.fromEntries(contact.map(({ target, path }) => [target, { path }])) } }),
    ...(company.length === 0
      ? {}
      : {
          company: {
            // Without one, the service says that it is missing.
            domain: domain === undefined ? {} : { path: domain },
            ...(name === undefined ? {} : { name: { path: name } }),
            properties: Object.fromEntries(others.map(({ key, path }) => [key, { path }])),
          },
        }),
  }
}

/** The rows of a mapping; null if it has more than one path for each value. */
function rowsOf({ only_when: conditions = [], contact, company }: AnswerMapping): MappingRow[] | null {
  const fields = [
    ...Object.entries(contact?.properties ?? {}),
    ...(company ? [[`${OF_COMPANY}domain`, company.domain] as const] : []),
    ...(company?.name ? [[`${OF_COMPANY}name`, company.name] as const] : []),
    ...Object.entries(company?.properties ?? {}).map(([key, field]) => [OF_COMPANY + key, field] as const),
  ]
  const rows = fields.flatMap(([target, { path, starts_with: prefix }]) =>
    typeof path === 'string' && prefix === undefined ? [{ target, path }] : [],
  )
  return conditions.length === 0 && rows.length === fields.length ? rows : null
}
