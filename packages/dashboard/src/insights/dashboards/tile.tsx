import { Card, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Report, Tile } from '../../api/types.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { answeredQuestion, IntervalMark } from '../longer-interval.tsx'
import { SampleMark } from '../sample.tsx'
import { text } from './text.ts'
import classes from './tile.module.css'
import { Scroll } from './tile-body.tsx'
import { TILE_KINDS } from './tile-kinds.tsx'
import { TileNumber } from './tile-number.tsx'

interface TileCardProps {
  /** None for a text. */
  title?: ReactNode
  /** Before and after the title. */
  handle?: ReactNode
  tools?: ReactNode
  /** A text has headings of its own. */
  isText?: boolean
  children: ReactNode
}

/** The frame of a tile. */
export function TileCard({ title, handle, tools, isText = title === undefined, children }: TileCardProps) {
  return (
    <Card className={classes.card} p="sm">
      {title || handle || tools ? (
        <div className={classes.head}>
          {handle}
          <Text component={isText ? 'div' : 'h2'} className={classes.title}>
            {title}
          </Text>
          {tools}
        </div>
      ) : null}
      {children}
    </Card>
  )
}

/** A text, in Markdown. */
export function TileText({ children }: { children: string }) {
  return (
    <Scroll name={text.tile.text}>
      <Markdown heading={2}>{children}</Markdown>
    </Scroll>
  )
}

interface TileAnswerProps {
  kind: Report['kind']
  name: string
  view: Tile['view']
  question: object
  answer: object
}

/** An answer as a tile shows it. Its numbers open their people within `WithPeople` only. */
export function TileAnswer(shown: TileAnswerProps) {
  return (
    <>
      <SampleMark answer={shown.answer} />
      {/* A number has no intervals. */}
      {shown.view === 'number' ? null : <IntervalMark {...shown} />}
      <Shown {...shown} question={answeredQuestion(shown)} />
    </>
  )
}

function Shown({ kind, name, view = 'chart', question, answer }: TileAnswerProps) {
  const shown = TILE_KINDS[kind]
  // A question and its answer are of the kind of their report.
  const answered = { question, answer } as never
  if (view === 'number') return <TileNumber {...shown.headline(answered)} />
  if (shown.isEmpty(answer as never)) {
    return (
      <Text size="sm" c="dimmed">
        {text.tile.nothing}
      </Text>
    )
  }
  return view === 'table' ? shown.table(answered, name) : shown.chart(answered, name)
}
