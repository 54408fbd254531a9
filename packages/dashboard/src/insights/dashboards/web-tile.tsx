import { SimpleGrid } from '@mantine/core'
import { useState } from 'react'
import type { Answered } from '../answer-query.ts'
import { WebChart } from '../web-chart.tsx'
import type { Figure } from '../web-figures.ts'
import { ListCard } from '../web-list-card.tsx'
import { Totals } from '../web-totals.tsx'

/** The figures of visits, one of them over time, and where they came from and went to. */
export function WebTile({ question, answer }: Answered<'insightWeb'>) {
  const [figure, setFigure] = useState<Figure>('people')
  return (
    <>
      <Totals answer={answer} chosen={figure} onChoose={setFigure} />
      <WebChart question={question} answer={answer} figure={figure} />
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xs" verticalSpacing="xs">
        <ListCard card="source" question={question} answer={answer} />
        <ListCard card="page" question={question} answer={answer} />
      </SimpleGrid>
    </>
  )
}
