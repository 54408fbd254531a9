import { Button, Checkbox, Group, NativeSelect, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { queryOf, useOperation } from '../api/operation.ts'
import { FormDialog, NameField } from '../ui/form-dialog.tsx'
import { DAY_MS } from '../ui/range.ts'
import { SecretShown } from '../ui/secret-shown.tsx'
import { ALL_TOOLS, ToolChoice, toolsWithin } from '../ui/tool-choice.tsx'
import { text } from './text.ts'

/** The form for a new key, which is then shown once. */
export function NewKeyDialog({ onClose }: { onClose: () => void }) {
  const all = useQuery({ ...queryOf('listScopes'), ...FOR_GOOD })
  const allTools = useQuery({ ...queryOf('listTools'), ...FOR_GOOD })
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>([])
  const [life, setLife] = useState<keyof typeof LIVES>('never')
  const [lastDay, setLastDay] = useState('')
  const [use, setUse] = useState<Use>('apps')
  const [tools, setTools] = useState(ALL_TOOLS)
  const creating = useOperation('createApiKey')
  const known = all.data?.scopes ?? []
  const made = creating.data?.api_key
  return (
    <FormDialog
      title={text.keys.create.title}
      submit={text.keys.create.submit}
      size="lg"
      sending={{ isPending: creating.isPending, error: creating.error ?? all.error ?? allTools.error }}
      isDisabled={scopes.length === 0}
      onSubmit={() =>
        creating.mutate({ name: name.trim(), scopes, ...expiryOf(life, lastDay), ...fieldsOf(use, tools) })
      }
      onClose={onClose}
      result={
        made === undefined
          ? null
          : {
              title: text.keys.create.titleWhenCreated,
              content: <SecretShown secret={made} words={text.keys.create} onDone={onClose} />,
            }
      }
    >
      <NameField value={name} onChange={setName} description={text.keys.create.nameDescription} />
      <Checkbox.Group
        label={text.keys.create.scopes}
        description={text.keys.create.scopesDescription}
        withAsterisk
        value={scopes}
        onChange={setScopes}
      >
        <Group gap="xs" my="xs">
          <Button
            variant="default"
            size="compact-xs"
            onClick={() => setScopes(known.filter((scope) => scope.endsWith(':read')))}
          >
            {text.keys.create.readOnly}
          </Button>
          <Button variant="default" size="compact-xs" onClick={() => setScopes(known)}>
            {text.keys.create.all}
          </Button>
          <Button variant="default" size="compact-xs" onClick={() => setScopes([])}>
            {text.keys.create.none}
          </Button>
        </Group>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={8}>
          {inPairs(known).map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label={text.keys.create.expires}
          flex={1}
          value={life}
          onChange={(event) => setLife(event.currentTarget.value as keyof typeof LIVES)}
          data={Object.entries(text.keys.create.lives).map(([value, label]) => ({ value, label }))}
        />
        {life === 'day' ? (
          <TextInput
            label={text.keys.create.lastDay}
            type="date"
            required
            flex={1}
            value={lastDay}
            onChange={(event) => setLastDay(event.currentTarget.value)}
          />
        ) : null}
      </Group>
      <Radio.Group label={text.keys.create.use} value={use} onChange={(value) => setUse(value as Use)}>
        <Stack gap={8} mt="xs">
          {(['apps', 'agent', 'openAgent'] as const).map((each) => (
            <Radio key={each} value={each} {...text.keys.create.uses[each]} />
          ))}
        </Stack>
      </Radio.Group>
      {use === 'apps' ? null : (
        <ToolChoice tools={toolsWithin(allTools.data?.tools ?? [], scopes)} chosen={tools} onChange={setTools} />
      )}
    </FormDialog>
  )
}

/** They change with the version of the service. */
const FOR_GOOD = { staleTime: Number.POSITIVE_INFINITY }

/** What will use the key: the service hides personal data from agents, unless the person chooses otherwise. */
type Use = 'apps' | 'agent' | 'openAgent'

function fieldsOf(use: Use, tools: string[]): { redact_personal_data?: boolean; tools?: string[] } {
  return use === 'apps' ? {} : { redact_personal_data: use === 'agent', tools }
}

/** The order in which read and write of a kind stand beside each other in two columns: kinds of one scope come last. */
function inPairs(scopes: readonly string[]): string[] {
  const kindOf = (scope: string) => scope.split(':')[0]
  const isAlone = (scope: string) => scopes.filter((each) => kindOf(each) === kindOf(scope)).length === 1
  return [...scopes.filter((scope) => !isAlone(scope)), ...scopes.filter(isAlone)]
}

/** The days until a key expires. */
const LIVES = { never: null, month: 30, quarter: 90, year: 365, day: null } as const

function expiryOf(life: keyof typeof LIVES, lastDay: string): { expires_at?: string } {
  // A date without a time means the end of that day.
  if (life === 'day') return { expires_at: lastDay }
  const days = LIVES[life]
  return days === null ? {} : { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }
}
