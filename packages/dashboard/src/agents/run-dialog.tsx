import { Alert, Button, Group, Modal, Pill, Radio, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { type Agent, refreshAgents, triggerAgent } from '../api/agents.ts'
import type { Contact } from '../api/contacts.ts'
import { contactName } from '../contacts/contact-name.ts'
import { contactChoice, useFoundContacts } from '../contacts/find-contacts.ts'
import { FindField } from '../ui/find-field.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'

const CHOSEN_MAX = 1_000

/** Runs an agent now, for its audience or for chosen contacts. */
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
                label={`Its audience, at most ${agent.monitoring.max_contacts_per_run}`}
                description={
                  hasFilter ? undefined : 'It has no audience: edit the agent to choose a segment or a filter.'
                }
              />
              <Radio value="chosen" label="Contacts that I choose" />
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
  return (
    <Stack gap="xs">
      <FindField
        label="Find contacts"
        placeholder="Name or e-mail address"
        what="Contacts"
        useFound={useFoundContacts}
        keyOf={({ contact_id }) => contact_id}
        nameOf={contactChoice}
        isExcluded={({ contact_id: id }) => chosen.some(({ contact_id }) => contact_id === id)}
        onChoose={(contact) => onChange([...chosen, contact])}
        disabled={chosen.length >= CHOSEN_MAX}
      />
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
