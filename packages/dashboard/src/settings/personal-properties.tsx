import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/client.ts'
import { keyOf, queryOf, useOperation } from '../api/operation.ts'
import type { PersonalPropertyProposal, Tenant } from '../api/types.ts'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { Form } from '../ui/form.tsx'
import { Outcome, SettingsPart } from '../ui/settings-part.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { text as settingsText } from './text.ts'
import { WordsInput } from './word-list.tsx'

const text = settingsText.workspace.personal
const PROPERTIES_MAX = 200
const PROPERTY_LENGTH_MAX = 100

interface Choice {
  hide: string[]
  show: string[]
}

/** What the workspace says about its own properties: AI agents see them or not. The names of all others decide. */
export function PersonalProperties() {
  const { data: tenant, error, refetch } = useQuery({ ...queryOf('getTenant'), select: ({ tenant }) => tenant })
  return (
    <SettingsPart title={text.title}>
      {error && !tenant ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !tenant ? <LoadingState lines={2} /> : null}
      {tenant ? <ChoiceForm tenant={tenant} /> : null}
    </SettingsPart>
  )
}

function ChoiceForm({ tenant }: { tenant: Tenant }) {
  const saved: Choice = { hide: tenant.personal_properties, show: tenant.visible_properties }
  const [choice, setChoice] = useState(saved)
  const saving = useOperation('updateTenant')
  /** A name is in one list at most. */
  const choose = (list: keyof Choice, names: string[]) => {
    const other = list === 'hide' ? 'show' : 'hide'
    setChoice({ ...choice, [list]: names, [other]: choice[other].filter((name) => !names.includes(name)) })
    saving.reset()
  }
  const limits = { max: PROPERTIES_MAX, lengthMax: PROPERTY_LENGTH_MAX }
  return (
    <Stack gap="md">
      <Form
        gap="sm"
        align="flex-start"
        maw={560}
        onSubmit={() => saving.mutate({ personal_properties: choice.hide, visible_properties: choice.show })}
      >
        <WordsInput text={text.hide} words={choice.hide} onChange={(names) => choose('hide', names)} {...limits} />
        <WordsInput text={text.show} words={choice.show} onChange={(names) => choose('show', names)} {...limits} />
        <Outcome error={saving.error} success={saving.isSuccess ? text.saved : null} />
        <Button
          type="submit"
          variant="default"
          loading={saving.isPending}
          disabled={isSame(choice.hide, saved.hide) && isSame(choice.show, saved.show)}
        >
          {text.save}
        </Button>
      </Form>
      <Suggestions choice={choice} onChoose={(list, name) => choose(list, [...choice[list], name])} />
    </Stack>
  )
}

function isSame(names: string[], others: string[]): boolean {
  return names.length === others.length && names.every((name, index) => name === others[index])
}

const ENTITIES = ['contacts', 'companies', 'events'] as const

/** A property, or a field of events, of which a person may want to say whether AI agents see it. */
interface Suggestion extends PersonalPropertyProposal {
  name: string
  entity: (typeof ENTITIES)[number]
}

/** Made from the newest records of every kind. Of a name that several kinds have, the first counts: a choice is of names. */
const suggestionsQuery = queryOptions({
  queryKey: keyOf('listPersonalProperties'),
  queryFn: async ({ signal }) => {
    const lists = ENTITIES.map(async (entity) => {
      const { properties } = await call('listPersonalProperties', { entity }, signal)
      return properties.flatMap(({ name, proposal }) => (proposal === null ? [] : { name, entity, ...proposal }))
    })
    const found: Suggestion[] = (await Promise.all(lists)).flat()
    return [...new Map(found.toReversed().map((each) => [each.name, each])).values()].toReversed()
  },
})

function Suggestions({ choice, onChoose }: { choice: Choice; onChoose: (list: keyof Choice, name: string) => void }) {
  const { data, error, refetch } = useQuery(suggestionsQuery)
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  const open = data?.filter(({ name }) => !choice.hide.includes(name) && !choice.show.includes(name)) ?? []
  if (open.length === 0) return null
  return (
    <section>
      <Title order={3} size="h5">
        {text.suggestions.title}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {text.suggestions.explanation}
      </Text>
      <DataTable
        label={text.suggestions.title}
        columns={columnsWith(onChoose)}
        rows={open}
        rowKey={({ name }) => name}
        empty={null}
      />
    </section>
  )
}

function columnsWith(onChoose: (list: keyof Choice, name: string) => void): Column<Suggestion>[] {
  return [
    {
      id: 'name',
      header: text.suggestions.property,
      cell: ({ name }) => (
        <Text size="sm" fw={550}>
          <Foreign max={100}>{name}</Foreign>
        </Text>
      ),
    },
    {
      id: 'entity',
      header: text.suggestions.of,
      visibleFrom: 'sm',
      cell: ({ entity }) => text.suggestions.entities[entity],
    },
    { id: 'reason', header: text.suggestions.reason, visibleFrom: 'xs', cell: reasonOf },
    {
      id: 'actions',
      header: text.suggestions.actions,
      align: 'right',
      cell: ({ name, change }) => (
        <Group gap="xs" justify="flex-end">
          {(['hide', 'show'] as const).map((list) => (
            <Button
              key={list}
              size="xs"
              variant={list === change ? 'light' : 'default'}
              onClick={() => onChoose(list, name)}
              aria-label={text.suggestions[list].one(name.slice(0, 80))}
            >
              {text.suggestions[list].label}
            </Button>
          ))}
        </Group>
      ),
    },
  ]
}

function reasonOf({ because, values, personal_values: personal }: Suggestion): string {
  return because === 'values' ? text.suggestions.because.values(personal, values) : text.suggestions.because[because]
}
