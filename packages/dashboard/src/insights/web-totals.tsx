import { Group, SimpleGrid, Text, UnstyledButton } from '@mantine/core'
import { Change } from '../ui/change.tsx'
import { PeopleFigure } from './people-panel.tsx'
import classes from './web.module.css'
import { FIGURES, type Figure, formatOf, LESS_IS_BETTER } from './web-figures.ts'
import type { WebAnswer } from './web-question.ts'
import { text } from './web-text.ts'

interface TotalsProps {
  answer: WebAnswer
  /** The figure in the chart. */
  chosen: Figure
  onChoose: (figure: Figure) => void
}

/** The figures of the whole range, each compared with the period before. A click shows one in the chart. */
export function Totals({ answer: { totals, compare }, chosen, onChoose }: TotalsProps) {
  return (
    <SimpleGrid
      component="section"
      aria-label={text.totals}
      cols={{ base: 2, xs: 3, lg: 6 }}
      spacing={4}
      verticalSpacing={4}
      mb="md"
    >
      {FIGURES.map((figure) => {
        const [value, before, format] = [totals[figure], compare?.totals[figure], formatOf(figure)]
        return (
          <div key={figure} className={classes.figure} data-chosen={figure === chosen}>
            <UnstyledButton fz="sm" c="dimmed" aria-pressed={figure === chosen} onClick={() => onChoose(figure)}>
              {text.figures[figure]}
            </UnstyledButton>
            <Text fz={24} fw={650} lh={1.35} component="div">
              <PeopleFigure name={text.figures.people} at={figure === 'people' ? {} : undefined} value={value}>
                {format(value)}
              </PeopleFigure>
            </Text>
            {compare === undefined ? null : (
              <Group gap={6}>
                {value === null || before === null || before === undefined ? null : (
                  <Change value={value} before={before} lessIsBetter={LESS_IS_BETTER.has(figure)} />
                )}
                <Text size="xs" c="dimmed">
                  {text.before(format(before))}
                </Text>
              </Group>
            )}
          </div>
        )
      })}
    </SimpleGrid>
  )
}
