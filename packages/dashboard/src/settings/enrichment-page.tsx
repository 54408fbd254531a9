import { Select, Stack, Switch, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import { useMay } from '../session/may.ts'
import { FormError } from '../ui/form.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Outcome, SettingsPart } from '../ui/settings-part.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { EnrichmentProviders } from './enrichment-providers/providers.tsx'
import { EnrichmentRuns } from './enrichment-runs.tsx'
import { text } from './enrichment-text.ts'

const SWITCHES = ['company', 'place', 'phone', 'name'] as const

/** Which enrichers are on, the country of phone numbers, and the enrichment of contacts that exist already. */
export function EnrichmentPage() {
  const { data, error, refetch } = useQuery(queryOf('getEnrichment'))
  const mayRead = useMay('contacts:read')
  const [isOffered, setOffered] = useState(false)
  return (
    <>
      <PageHeader title={text.title} description={text.description} />
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={8} /> : null}
      {data ? (
        <Stack gap="md">
          <SettingsPart title={text.switches.title}>
            {SWITCHES.map((name) => (
              <EnricherSwitch
                key={name}
                name={name}
                isOn={data.enrichment[name]}
                onSwitchedOn={() => setOffered(true)}
              />
            ))}
            <Text size="sm" c="dimmed">
              {text.later}
            </Text>
          </SettingsPart>
          <SettingsPart title={text.country.title}>
            <Country code={data.enrichment.country} onChosen={() => setOffered(true)} />
          </SettingsPart>
          {mayRead ? <EnrichmentRuns isOffered={isOffered} onAnswer={() => setOffered(false)} /> : null}
          <EnrichmentProviders />
        </Stack>
      ) : null}
    </>
  )
}

interface SwitchProps {
  name: (typeof SWITCHES)[number]
  isOn: boolean
  onSwitchedOn: () => void
}

function EnricherSwitch({ name, isOn, onSwitchedOn }: SwitchProps) {
  const mayWrite = useMay('settings:write')
  const saving = useOperation('updateEnrichment', {
    onDone: ({ enrichment }) => {
      if (enrichment[name]) onSwitchedOn()
    },
  })
  const { label, description } = text.switches[name]
  return (
    <>
      <Switch
        label={label}
        description={description}
        checked={saving.isPending ? (saving.variables[name] ?? isOn) : isOn}
        disabled={!mayWrite || saving.isPending}
        onChange={(event) => saving.mutate({ [name]: event.currentTarget.checked })}
      />
      <FormError error={saving.error} />
    </>
  )
}

function Country({ code, onChosen }: { code: string | null; onChosen: () => void }) {
  const mayWrite = useMay('settings:write')
  const saving = useOperation('updateEnrichment', {
    onDone: ({ enrichment }) => {
      if (enrichment.country !== null) onChosen()
    },
  })
  return (
    <>
      <Select
        label={text.country.label}
        description={text.country.description}
        placeholder={text.country.none}
        data={COUNTRIES}
        searchable
        clearable
        maw={560}
        disabled={!mayWrite || saving.isPending}
        value={saving.isPending ? (saving.variables.country ?? null) : code}
        onChange={(country) => saving.mutate({ country })}
      />
      <Outcome error={saving.error} success={saving.isSuccess ? text.country.saved : null} />
    </>
  )
}

/** Codes that name no country: groups of countries, tests, and an unknown one. */
const NO_COUNTRY = ['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ']
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Every country that the browser knows, by name. */
const COUNTRIES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
  .flatMap((value) => {
    const label = names.of(value)
    // A code of former times leads to today's country.
    const isCurrent = new Intl.Locale(`und-${value}`).region === value
    return label === undefined || !isCurrent || NO_COUNTRY.includes(value) ? [] : [{ value, label }]
  })
  .sort((one, other) => one.label.localeCompare(other.label))
