import { Stack, Text } from '@mantine/core'
import type { Webhook } from '../api/types.ts'
import { filterOfWhere, whereOf } from '../filters/draft-filter.ts'
import { useFilterNames } from '../filters/fields.ts'
import { FilterBuilder } from '../filters/filter-builder.tsx'
import { type FilterForm, useFilterForm } from '../filters/use-filter-form.ts'
import { eventFilterWords } from '../filters/words.ts'
import { Foreign } from '../ui/text.tsx'
import { text } from './text.ts'

type Where = NonNullable<Webhook['where']>

/** The form of a webhook's conditions on the event. */
export function useWhere(stored: Webhook['where']) {
  const form = useFilterForm('events-of-contact', stored === null ? undefined : filterOfWhere(stored))
  const conditions = whereOf(form.eventFilter())
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
  const filter = filterOfWhere(where)
  const names = useFilterNames('events', [filter])
  return <Foreign max={600}>{eventFilterWords(filter, names)}</Foreign>
}
