import { Alert, Button, Checkbox, Code, Group, Modal, NativeSelect, SimpleGrid, Stack, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { createKey, refreshKeys, scopesQuery } from '../api/keys.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { messageOf } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'

/** A button with the form for a new key, which is shown once. */
export function NewKeyButton() {
  const [isOpen, { open, close }] = useDisclosure()
  const [made, setMade] = useState<string | null>(null)
  const show = () => {
    setMade(null)
    open()
  }
  return (
    <>
      <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={show}>
        New key
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={made === null ? 'New key' : 'Your new key'}
        size="lg"
        // A click outside must not close the dialog before the key is saved.
        closeOnClickOutside={made === null}
        closeOnEscape={made === null}
        withCloseButton={made === null}
      >
        {made === null ? <KeyForm onMade={setMade} onCancel={close} /> : <KeyShown apiKey={made} onDone={close} />}
      </Modal>
    </>
  )
}

function KeyForm({ onMade, onCancel }: { onMade: (apiKey: string) => void; onCancel: () => void }) {
  const queryClient = useQueryClient()
  const all = useQuery(scopesQuery)
  const [name, setName] = useState('')
  const [scopes, setScopes] = useState<string[]>([])
  const [life, setLife] = useState<keyof typeof LIVES>('never')
  const [lastDay, setLastDay] = useState('')
  const making = useMutation({
    mutationFn: () => createKey({ name: name.trim(), scopes, ...expiryOf(life, lastDay) }),
    onSuccess: ({ api_key: apiKey }) => {
      onMade(apiKey)
      return refreshKeys(queryClient)
    },
  })
  const known = all.data ?? []
  const submit = (event: FormEvent) => {
    event.preventDefault()
    making.mutate()
  }
  const error = making.error ?? all.error
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      <TextInput
        label="Name"
        description="Helps you recognize later what uses it."
        required
        {...upTo(200)}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Checkbox.Group label="Scopes" description="What it may do." withAsterisk value={scopes} onChange={setScopes}>
        <Group gap="xs" my="xs">
          <Button
            variant="default"
            size="compact-xs"
            onClick={() => setScopes(known.filter((scope) => scope.endsWith(':read')))}
          >
            Read only
          </Button>
          <Button variant="default" size="compact-xs" onClick={() => setScopes(known)}>
            All
          </Button>
          <Button variant="default" size="compact-xs" onClick={() => setScopes([])}>
            None
          </Button>
        </Group>
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" verticalSpacing={8}>
          {known.map((scope) => (
            <Checkbox key={scope} value={scope} label={scope} />
          ))}
        </SimpleGrid>
      </Checkbox.Group>
      <Group gap="xs" align="flex-end">
        <NativeSelect
          label="Expires"
          flex={1}
          value={life}
          onChange={(event) => setLife(event.currentTarget.value as keyof typeof LIVES)}
          data={Object.entries(LIVES).map(([value, { label }]) => ({ value, label }))}
        />
        {life === 'day' ? (
          <TextInput
            label="Last day"
            type="date"
            required
            flex={1}
            value={lastDay}
            onChange={(event) => setLastDay(event.currentTarget.value)}
          />
        ) : null}
      </Group>
      {error ? (
        <Alert color="red" role="alert">
          {messageOf(error)}
        </Alert>
      ) : null}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
        <Button type="submit" loading={making.isPending} disabled={scopes.length === 0}>
          Create key
        </Button>
      </Group>
    </Stack>
  )
}

function KeyShown({ apiKey, onDone }: { apiKey: string; onDone: () => void }) {
  return (
    <Stack gap="md">
      <Alert icon={<IconKey aria-hidden />} title="Save the key now: it is not shown again" role="status">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{apiKey}</Code>
          <CopyButton value={apiKey} label="API key" withText />
        </Group>
      </Alert>
      <Button ml="auto" onClick={onDone} autoFocus>
        I have saved it
      </Button>
    </Stack>
  )
}

const LIVES = {
  never: { label: 'Never', days: null },
  month: { label: 'In 30 days', days: 30 },
  quarter: { label: 'In 90 days', days: 90 },
  year: { label: 'In a year', days: 365 },
  day: { label: 'After a chosen day', days: null },
} as const

const DAY_MS = 86_400_000

function expiryOf(life: keyof typeof LIVES, lastDay: string): { expires_at?: string } {
  // A date without a time means the end of that day.
  if (life === 'day') return { expires_at: lastDay }
  const { days } = LIVES[life]
  return days === null ? {} : { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }
}
