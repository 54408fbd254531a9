import { Alert, Code, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useOperation } from '../../api/operation.ts'
import type { EnrichmentProvider, EnrichmentProviderTest } from '../../api/types.ts'
import { Facts } from '../../ui/facts.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { propertyLabel } from '../../ui/property-value.ts'
import { Foreign, isolated } from '../../ui/text.tsx'
import { text } from './text.ts'

const { test: words } = text
const RESPONSE_LENGTH_MAX = 5_000

/** Asks a provider about an address, and shows what came. */
export function TestProviderDialog({ provider, onClose }: { provider: EnrichmentProvider; onClose: () => void }) {
  const [email, setEmail] = useState('')
  const testing = useOperation('testEnrichmentProvider')
  const { provider_id, name } = provider
  return (
    <FormDialog
      title={words.title(isolated(name.slice(0, 80)))}
      submit={words.submit}
      size="lg"
      sending={testing}
      onSubmit={() => testing.mutate({ provider_id, email: email.trim() })}
      onClose={onClose}
    >
      <Text size="sm">{words.explanation}</Text>
      <TextInput
        label={words.email}
        type="email"
        required
        data-autofocus
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      {testing.data && !testing.isPending ? <Seen test={testing.data.test} /> : null}
    </FormDialog>
  )
}

function Seen({ test }: { test: EnrichmentProviderTest }) {
  const facts = factsOf(test)
  return (
    <Stack gap="sm" role="status">
      <Alert color={test.outcome === 'failed' ? 'red' : test.outcome === 'found' ? 'green' : 'gray'}>
        {test.error ? `${words.outcomes.failed}: ${test.error.message}` : words.outcomes[test.outcome]}
      </Alert>
      {test.outcome === 'found' && facts.length === 0 ? <Text size="sm">{words.nothingNew}</Text> : null}
      {facts.length > 0 ? <Facts facts={facts} /> : null}
      {test.problems.length > 0 ? (
        <Text size="sm">
          {words.problems}: {test.problems.map(({ path }) => path).join('; ')}
        </Text>
      ) : null}
      {test.response === null ? null : (
        <details>
          <Text component="summary" size="sm">
            {words.response}
          </Text>
          <Code block mah={240} style={{ overflow: 'auto' }}>
            {JSON.stringify(test.response, null, 2).slice(0, RESPONSE_LENGTH_MAX)}
          </Code>
        </details>
      )}
    </Stack>
  )
}

/** What would be filled, by the names that people read. */
function factsOf({ properties, company }: EnrichmentProviderTest): [string, React.ReactNode][] {
  const shown = (value: unknown) => <Foreign max={200}>{[value].flat().map(String).join(', ')}</Foreign>
  const named = company?.domain ?? company?.name
  return [
    ...Object.entries(properties).map(([key, value]): [string, React.ReactNode] => [propertyLabel(key), shown(value)]),
    ...(named ? [[words.company, shown(named)] as [string, React.ReactNode]] : []),
    ...Object.entries(company?.properties ?? {}).map(([key, value]): [string, React.ReactNode] => [
      words.ofCompany(propertyLabel(key)),
      shown(value),
    ]),
  ]
}
