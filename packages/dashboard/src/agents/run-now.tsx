import { Button, Radio, Stack } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconPlayerPlay } from '@tabler/icons-react'
import { useState } from 'react'
import type { Agent, Contact } from '../api/types.ts'
import { ContactChoice } from './contact-choice.tsx'
import { RunDialog } from './run-dialog.tsx'
import { text } from './text.ts'

const CHOSEN_MAX = 1_000

/** The button that runs an agent, for its audience or for chosen contacts. */
export function RunNow({ agent }: { agent: Agent }) {
  const [isOpen, { open, close }] = useDisclosure()
  const hasFilter = agent.monitoring.filter !== undefined
  const [whom, setWhom] = useState<'watched' | 'chosen'>(hasFilter ? 'watched' : 'chosen')
  const [chosen, setChosen] = useState<Contact[]>([])
  const contactIds = whom === 'watched' ? null : chosen.map(({ contact_id }) => contact_id)
  return (
    <>
      <Button leftSection={<IconPlayerPlay size={16} aria-hidden />} onClick={open}>
        {text.runNow.button}
      </Button>
      {isOpen ? (
        <RunDialog title={text.runNow.button} agentId={agent.agent_id} contactIds={contactIds} onClose={close}>
          <Radio.Group
            label={text.runNow.which}
            value={whom}
            onChange={(value) => setWhom(value === 'chosen' ? 'chosen' : 'watched')}
          >
            <Stack gap={6} mt={4}>
              <Radio
                value="watched"
                disabled={!hasFilter}
                label={text.runNow.audience(agent.monitoring.max_contacts_per_run)}
                description={hasFilter ? undefined : text.runNow.noAudience}
              />
              <Radio value="chosen" label={text.runNow.chosen} />
            </Stack>
          </Radio.Group>
          {whom === 'chosen' ? <ContactChoice chosen={chosen} most={CHOSEN_MAX} onChange={setChosen} /> : null}
        </RunDialog>
      ) : null}
    </>
  )
}
