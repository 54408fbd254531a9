import { Button, Checkbox, Group, Modal, NativeSelect, Radio, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createApiKey, refreshKeys, scopesQuery, toolsQuery } from '../api/keys.ts'
import { Form, FormError } from '../ui/form.tsx'
import { DAY_MS } from '../ui/range.ts'
import { SecretShown } from '../ui/secret-shown.tsx'
import { ALL_TOOLS, ToolChoice, toolsWithin } from '../ui/tool-choice.tsx'
import { upTo } from '../ui/up-to.ts'
import { text } from './text.ts'

/** The form for a new key, which is then shown once. */
export function NewKeyDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null)
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      onExitTransitionEnd={() => setMade(null)}
      title={made === null ? text.keys.create.title : text.keys.create.titleWhenCreated}
      size="lg"
      // A click outside must not close the dialog before the key is saved.
      closeOnClickOutside={made === null}
      closeOnEscape={made === null}
      withCloseButton={made === null}
    >
      {made === null ? (
        <KeyForm onMade={setMade} onCancel={onClose} />
      ) : (
        <SecretShown secret={made} words={text.keys.create} onDone={onClose} />
      )}
    </Modal>
  )
}

function KeyForm({ onMade, onCancel }: { onMade: (apiKey: string) => void; onCancel: () => void }) {
  const queryClient = useQueryClient()
  const all = useQuery(scopesQuery)
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>([])
  const [life, setLife] = useState<keyof typeof LIVES>('never')
  const [lastDay, setLastDay] = useState('')
  const [use, setUse] = useState<Use>('apps')
  const [tools, setTools] = useState(ALL_TOOLS)
  const allTools = useQuery(toolsQuery)
  const making = useMutation({
    mutationFn: () => createApiKey({ name: name.trim(), scopes, ...expiryOf(life, lastDay), ...fieldsOf(use, tools) }),
    onSuccess: ({ api_key: apiKey }) => {
      onMade(apiKey)
      return refreshKeys(queryClient)
    },
  })
  const known = all.data ?? []
  const error = making.error ?? all.error ?? allTools.error
  return (
    <Form onSubmit={() => making.mutate()}>
      <TextInput
        label={text.keys.create.name}
        description={text.keys.create.nameDescription}
        required
        {...upTo(200)}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
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
        <ToolChoice tools={toolsWithin(allTools.data ?? [], scopes)} chosen={tools} onChange={setTools} />
      )}
      <FormError error={error} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          {text.keys.create.cancel}
        </Button>
        <Button type="submit" loading={making.isPending} disabled={scopes.length === 0}>
          {text.keys.create.submit}
        </Button>
      </Group>
    </Form>
  )
}

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
