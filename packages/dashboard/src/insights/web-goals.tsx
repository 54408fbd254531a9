import { ActionIcon, Button, Card, Modal, Table, Text, VisuallyHidden } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { useFields } from '../filters/fields.ts'
import { Form } from '../ui/form.tsx'
import { formatNumber } from '../ui/format.ts'
import { Foreign } from '../ui/text.tsx'
import { formatShare } from './axis.ts'
import { meantQuestion, newMeant } from './draft.ts'
import { MeantFields } from './meant-fields.tsx'
import { PeopleFigure } from './people-panel.tsx'
import type { Meant } from './question.ts'
import { ResultHeader } from './result-header.tsx'
import classes from './trend-result.module.css'
import { meantName } from './trend-rows.ts'
import type { WebAnswer, WebChanges, WebQuestion } from './web-question.ts'
import { text } from './web-text.ts'

const words = text.goals
/** The service's limit. */
const GOALS_MAX = 10

interface GoalsCardProps {
  question: WebQuestion
  answer: WebAnswer
  /** Absent where goals cannot be changed. */
  onChange?: ((changes: WebChanges) => void) | undefined
}

/** How many of the people reached each goal. */
export function GoalsCard({ question: { goals = [] }, answer, onChange }: GoalsCardProps) {
  const [isAdding, setAdding] = useState(false)
  const adder = useRef<HTMLButtonElement>(null)
  const change = (changed: Meant[]) => onChange?.({ goals: changed.length > 0 ? changed : undefined })
  const remove = (index: number) => {
    // The button that removed a goal disappears with it; the focus stays nearby.
    adder.current?.focus()
    change(goals.filter((_, each) => each !== index))
  }
  return (
    <Card miw={0}>
      <ResultHeader heading={words.title}>
        {onChange ? (
          <Button
            ref={adder}
            variant="light"
            size="compact-sm"
            leftSection={<IconPlus size={14} aria-hidden />}
            disabled={goals.length >= GOALS_MAX}
            onClick={() => setAdding(true)}
          >
            {words.add}
          </Button>
        ) : null}
      </ResultHeader>
      {goals.length === 0 ? (
        <Text size="sm" c="dimmed">
          {words.empty}
        </Text>
      ) : (
        <GoalsTable goals={goals} answer={answer} onRemove={onChange && remove} />
      )}
      <Modal opened={isAdding} onClose={() => setAdding(false)} title={words.addTitle}>
        <GoalForm
          onAdd={(goal) => {
            setAdding(false)
            change([...goals, goal])
          }}
        />
      </Modal>
    </Card>
  )
}

interface GoalsTableProps {
  goals: readonly Meant[]
  answer: WebAnswer
  onRemove: ((index: number) => void) | undefined
}

function GoalsTable({ goals, answer, onRemove }: GoalsTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className={classes.scroll} aria-label={words.title} tabIndex={0}>
      <Table horizontalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">{words.name}</Table.Th>
            <Table.Th scope="col" ta="right">
              {text.figures.people}
            </Table.Th>
            <Table.Th scope="col" ta="right" visibleFrom="xs">
              {words.events}
            </Table.Th>
            <Table.Th scope="col" ta="right">
              {words.rate}
            </Table.Th>
            {onRemove ? (
              <Table.Th scope="col">
                <VisuallyHidden>{words.actions}</VisuallyHidden>
              </Table.Th>
            ) : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {goals.map((goal, index) => {
            const { people, events, rate } = answer.goals?.[index] ?? {}
            const name = meantName(goal)
            return (
              <Table.Tr key={JSON.stringify(goal)}>
                <Table.Th scope="row" fw={400}>
                  <Foreign max={60}>{name}</Foreign>
                </Table.Th>
                <Table.Td ta="right">
                  <PeopleFigure name={name} at={{ goal: index + 1 }} value={people}>
                    {formatNumber(people ?? 0)}
                  </PeopleFigure>
                </Table.Td>
                <Table.Td ta="right" visibleFrom="xs">
                  {formatNumber(events ?? 0)}
                </Table.Td>
                <Table.Td ta="right">{formatShare(rate)}</Table.Td>
                {onRemove ? (
                  <Table.Td ta="right">
                    <ActionIcon
                      variant="subtle"
                      color="gray"
                      aria-label={words.remove(name.slice(0, 80))}
                      onClick={() => onRemove(index)}
                    >
                      <IconX size={16} aria-hidden />
                    </ActionIcon>
                  </Table.Td>
                ) : null}
              </Table.Tr>
            )
          })}
        </Table.Tbody>
      </Table>
    </section>
  )
}

function GoalForm({ onAdd }: { onAdd: (goal: Meant) => void }) {
  const { types } = useFields('events')
  const [draft, setDraft] = useState(newMeant)
  return (
    <Form onSubmit={() => onAdd(meantQuestion(draft, types))}>
      <MeantFields name={words.goal} draft={draft} autoFocus onChange={setDraft} />
      <Button type="submit" disabled={draft.event === ''}>
        {words.submit}
      </Button>
    </Form>
  )
}
