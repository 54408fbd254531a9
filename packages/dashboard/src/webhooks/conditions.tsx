import { Stack, Text } from '@mantine/core'
import type { Webhook } from '../api/types.ts'
import type { ConditionOnEvent, FilterOfEvents } from '../filters/draft.ts'
import { useFilterNames } from '../filters/fields.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { type FilterForm, useFilterForm } from '../filters/use-filter-form.ts'
import { eventFilterWords } from '../filters/words.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

type Where = NonNullable<Webhook['where']>

/** A list of conditions means all of them; a nested filter may mean any. */
function filterOf(where: Where): FilterOfEvents {
  const conditions = where as ConditionOnEvent[]
  const [only] = conditions
  return conditions.length === 1 && only && 'conditions' in only ? only : { match: 'all', conditions }
}

/** The form of a webhook's conditions on the event. */
export function useWhere(stored: Webhook['where']) {
  const form = useFilterForm('events-of-contact', stored === null ? undefined : filterOf(stored))
  const filter = form.eventFilter()
  const conditions = filter.match === 'any' && filter.conditions.length > 1 ? [filter] : filter.conditions
  return { form, where: conditions.length > 0 ? conditions : null }
}

/** @param event the name of the events that are delivered */
export function WhereFields({ form, event }: { form: FilterForm; event: string }) {
  return (
    <Stack gap={4} role="group" aria-label={text.where.label}>
      <Text size="sm" fw={550}>
        {text.where.label}
      </Text>
      <FilterBuilder form={form} event={event} />
      <Text size="sm" c="dimmed" role="status">
        {form.unfinished > 0 ? text.where.unfinished : ''}
      </Text>
    </Stack>
  )
}

/** The conditions of a webhook as a sentence. */
export function WhereWords({ where }: { where: Where }) {
  const filter = filterOf(where)
  const names = useFilterNames('events', [filter])
  return <Foreign max={600}>{eventFilterWords(filter, names)}</Foreign>
}
