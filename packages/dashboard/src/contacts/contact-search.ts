import type { Query } from '../api/client.ts'
import { day, flag, given, oneOf, pageNumber, searchParams, text, words } from '../app/search-params.ts'
import type { FilterField } from '../ui/filter-form.tsx'

const STAGES = [
  'lead',
  'prospect',
  'mql',
  'sql',
  'opportunity',
  'customer',
  'evangelist',
  'subscriber',
  'other',
] as const

/** The service's filters of contacts, with labels. */
export const CONTACT_FILTERS: FilterField[] = [
  { name: 'lifecycle_stage', label: 'Lifecycle stage', kind: 'choice', options: STAGES.map(asOption) },
  { name: 'lead_status', label: 'Lead status', kind: 'text' },
  { name: 'job_title', label: 'Job title contains', kind: 'text' },
  { name: 'industry', label: 'Industry', kind: 'text' },
  { name: 'country', label: 'Country', kind: 'text' },
  { name: 'state', label: 'State', kind: 'text' },
  { name: 'city', label: 'City', kind: 'text' },
  { name: 'has_social_profile', label: 'Has a social profile', kind: 'yes_no' },
  {
    name: 'status',
    label: 'Enrichment',
    kind: 'choice',
    options: [
      { value: 'enriched', label: 'Enriched' },
      { value: 'not_enriched', label: 'Not enriched' },
    ],
  },
  { name: 'company_id', label: 'Company', kind: 'text', isOnlyInLinks: true },
  { name: 'created_after', label: 'Created from', kind: 'date' },
  { name: 'created_before', label: 'Created until', kind: 'date' },
  ...(
    [
      { name: 'has_event_type', label: 'Event', kind: 'text', description: 'For example page_view.' },
      { name: 'has_event_url_contains', label: 'Address contains', kind: 'text' },
      { name: 'has_event_text', label: 'Element text', kind: 'text' },
      { name: 'has_event_text_contains', label: 'Text contains', kind: 'text' },
      { name: 'has_event_class_contains', label: 'CSS class contains', kind: 'text' },
      { name: 'has_event_element_id', label: 'Element id', kind: 'text' },
      { name: 'has_event_after', label: 'Happened from', kind: 'date' },
      { name: 'has_event_before', label: 'Happened until', kind: 'date' },
    ] as const
  ).map((field): FilterField => ({ ...field, group: 'Has an event that matches all of' })),
]

/** The search parameters of the list of contacts. */
export const contactSearch = searchParams({
  page: pageNumber,
  limit: oneOf('20', '50', '100'),
  search: text,
  sort_by: oneOf('email', 'firstname', 'lastname', 'company', 'createdate'),
  sort_dir: oneOf('asc', 'desc'),
  columns: words,
  lifecycle_stage: oneOf(...STAGES),
  lead_status: text,
  job_title: text,
  industry: text,
  country: text,
  state: text,
  city: text,
  has_social_profile: flag,
  status: oneOf('enriched', 'not_enriched'),
  company_id: text,
  created_after: day,
  created_before: day,
  has_event_type: text,
  has_event_url_contains: text,
  has_event_text: text,
  has_event_text_contains: text,
  has_event_class_contains: text,
  has_event_element_id: text,
  has_event_after: day,
  has_event_before: day,
})

export type ContactSearch = ReturnType<typeof contactSearch>

/** The query to the service for an address. */
export function toContactQuery({ columns: _shown, ...search }: ContactSearch): Query {
  return { ...given(search), page: search.page ?? 1, limit: search.limit ?? '20' }
}

function asOption(value: string) {
  const label = value.length === 3 ? value.toUpperCase() : value.slice(0, 1).toUpperCase() + value.slice(1)
  return { value, label }
}
