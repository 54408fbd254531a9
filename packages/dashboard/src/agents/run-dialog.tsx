import { Alert, Button, Group, Loader, Modal, Pill, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue, useDisclosure } from '@mantine/hooks'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Agent, refreshAgents, triggerAgent } from '../api/agents.ts'
import { type Contact, contactsQuery } from '../api/contacts.ts'
import { contactName } from '../contacts/contact-name.ts'
import { propertyText } from '../ui/property-value.ts'
import { messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'

const FOUND_MAX = 6
const CHOSEN_MAX = 1_000

/** Runs an agent now: for those that it watches, or for contacts that somebody chooses. */
export function RunDialog({ agent }: { agent: Agent }) {
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [isOpen, { open, close }] = useDisclosure()
  const hasFilter = agent.monitoring.filter !== undefined
  const [whom, setWhom] = useState<'watched' | 'chosen'>(hasFilter ? 'watched' : 'chosen')
  const [chosen, setChosen] = useState<Contact[]>([])
  const running = useMutation({
    mutationFn: () =>
      triggerAgent(agent.agent_id, whom === 'watched' ? null : chosen.map(({ contact_id }) => contact_id)),
    onSuccess: async ({ job_id: runId }) => {
      close()
      await navigate({ to: '/agents/runs/$runId', params: { runId } })
      await refreshAgents(queryClient)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    running.mutate()
  }
  return (
    <>
      <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={open}>
        Run now
      </Button>
      <Modal opened={isOpen} onClose={close} title="Run now" size="lg">
        <Stack component="form" onSubmit={submit}>
          <Radio.Group
            label="Which contacts"
            value={whom}
            onChange={(value) => setWhom(value === 'chosen' ? 'chosen' : 'watched')}
          >
            <Stack gap={6} mt={4}>
              <Radio
                value="watched"
                disabled={!hasFilter}
                label={`Those that it watches, at most ${agent.monitoring.max_contacts_per_run}`}
                description={hasFilter ? undefined : 'It watches nobody: give it a segment or a filter.'}
              />
              <Radio value="chosen" label="Those that I choose" />
            </Stack>
          </Radio.Group>
          {whom === 'chosen' ? <ContactChoice chosen={chosen} onChange={setChosen} /> : null}
          {running.isError ? (
            <Alert color="red" role="alert">
              {messageOf(running.error)}
            </Alert>
          ) : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={running.isPending} disabled={whom === 'chosen' && chosen.length === 0}>
              Start the run
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

function ContactChoice({ chosen, onChange }: { chosen: Contact[]; onChange: (chosen: Contact[]) => void }) {
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 250)
  const { data, isFetching } = useQuery({
    ...contactsQuery({ search: search || undefined, limit: FOUND_MAX }),
    enabled: search !== '',
  })
  const isChosen = ({ contact_id: id }: Contact) => chosen.some(({ contact_id }) => contact_id === id)
  const found = search === '' ? [] : (data?.contacts ?? []).filter((contact) => !isChosen(contact))
  return (
    <Stack gap="xs">
      <TextInput
        label="Find contacts"
        placeholder="Name or e-mail address"
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        // Enter would start the run before anybody is chosen.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        rightSection={isFetching ? <Loader size="xs" aria-label="Searching" /> : null}
      />
      {found.length > 0 ? (
        <Stack component="ul" gap={4} m={0} p={0} style={{ listStyle: 'none' }} aria-label="Contacts found">
          {found.map((contact) => (
            <li key={contact.contact_id}>
              <Button
                variant="default"
                size="xs"
                fullWidth
                justify="flex-start"
                disabled={chosen.length >= CHOSEN_MAX}
                onClick={() => onChange([...chosen, contact])}
              >
                <Foreign max={80}>{`${contactName(contact)} · ${propertyText(contact.properties.email)}`}</Foreign>
              </Button>
            </li>
          ))}
        </Stack>
      ) : null}
      {search !== '' && data && data.contacts.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nobody is found.
        </Text>
      ) : null}
      {chosen.length > 0 ? (
        <Group gap={6} role="group" aria-label="Chosen contacts">
          {chosen.map((contact) => (
            <Pill
              key={contact.contact_id}
              size="md"
              withRemoveButton
              onRemove={() => onChange(chosen.filter(({ contact_id }) => contact_id !== contact.contact_id))}
              removeButtonProps={{
                'aria-label': `Remove ${contactName(contact).slice(0, 80)}`,
                'aria-hidden': false,
                tabIndex: 0,
              }}
            >
              <Foreign max={60}>{contactName(contact)}</Foreign>
            </Pill>
          ))}
        </Group>
      ) : null}
    </Stack>
  )
}
