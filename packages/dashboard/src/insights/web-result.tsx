import { Card, SimpleGrid, Text } from '@mantine/core'
import { useState } from 'react'
import type { Answered } from './answer-query.ts'
import { WithPeople } from './people-panel.tsx'
import { PlacesCard } from './places-card.tsx'
import { WebChart } from './web-chart.tsx'
import type { Figure } from './web-figures.ts'
import { GoalsCard } from './web-goals.tsx'
import { ListCard } from './web-list-card.tsx'
import { ListDialog } from './web-list-dialog.tsx'
import type { ListName, RowValue } from './web-lists.ts'
import type { WebChanges } from './web-question.ts'
import { text } from './web-text.ts'
import { Totals } from './web-totals.tsx'

interface WebResultProps extends Answered<'insightWeb'> {
  /** Narrows the page to a row of a list, or no longer. This and the next are absent where the question cannot be changed. */
  onToggle?: (list: ListName, value: RowValue) => void
  onChange?: (changes: WebChanges) => void
}

/** The figures of the visits over time, and by where they came from, what they saw, where they are and on what. */
export function WebResult({ question, answer, onToggle, onChange }: WebResultProps) {
  const [figure, setFigure] = useState<Figure>('people')
  /** The list that is shown whole. */
  const [whole, setWhole] = useState<ListName | null>(null)
  const list = { question, answer, onToggle, onAll: onToggle && setWhole }
  return (
    <WithPeople kind="web" question={{ ...question, compare: undefined }}>
      <Card>
        <Totals answer={answer} chosen={figure} onChoose={setFigure} />
        <WebChart question={question} answer={answer} figure={figure} onChange={onChange} />
      </Card>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xs" verticalSpacing="xs">
        <ListCard card="source" {...list} />
        <ListCard card="page" {...list} />
      </SimpleGrid>
      <PlacesCard {...list} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xs" verticalSpacing="xs">
        <ListCard card="browser" {...list} />
        {onChange || question.goals ? <GoalsCard question={question} answer={answer} onChange={onChange} /> : null}
      </SimpleGrid>
      {answer.outside_visits > 0 ? (
        <Text size="sm" c="dimmed">
          {text.outside(answer.outside_visits)}
        </Text>
      ) : null}
      {whole === null || onToggle === undefined ? null : (
        <ListDialog list={whole} question={question} onToggle={onToggle} onClose={() => setWhole(null)} />
      )}
    </WithPeople>
  )
}
