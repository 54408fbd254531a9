import { Text } from '@mantine/core'
import { Foreign } from '../../ui/text.tsx'
import type { Answered } from '../answer-query.ts'
import { formatFigure } from '../axis.ts'
import { colorOf } from '../colors.ts'
import { PeopleFigure } from '../people-panel.tsx'
import { Lines } from '../trend-result.tsx'
import { rowsOf } from '../trend-rows.ts'
import { text } from './text.ts'
import classes from './tile.module.css'
import { Fitted } from './tile-body.tsx'

/** A tile has no place for more lines with their names. */
const LINES_SHOWN = 5

/** The lines of a trend, and above them their totals. */
export function TileTrend({ question, answer }: Answered<'insightTrend'>) {
  const unit = question.interval ?? 'day'
  const all = rowsOf(question, answer)
  const rows = all.slice(0, LINES_SHOWN)
  return (
    <>
      <ul className={classes.legend}>
        {rows.map(({ key, name, total, at }, place) => (
          <li key={key}>
            <span className={classes.key} style={{ borderColor: colorOf(place) }} aria-hidden />
            <Foreign max={60}>{name}</Foreign>
            <b>
              <PeopleFigure name={name} at={at} value={total}>
                {formatFigure(total)}
              </PeopleFigure>
            </b>
          </li>
        ))}
        {all.length > rows.length ? (
          <Text component="li" size="xs" c="dimmed">
            {text.tile.more(all.length - rows.length)}
          </Text>
        ) : null}
      </ul>
      <Fitted>
        {(height) => (
          <Lines
            unit={unit}
            keys={answer.intervals}
            shown={rows.map((row, index) => ({ row, index }))}
            height={height}
          />
        )}
      </Fitted>
    </>
  )
}
