import { Text } from '@mantine/core'
import type { Report, Tile, TileResult } from '../../api/types.ts'
import { Foreign } from '../../ui/text.tsx'
import { TileAnswer, TileCard, TileText } from './tile.tsx'
import { TileGrid } from './tile-grid.tsx'

/** A tile with what it shows. */
export interface AnsweredTile extends Tile {
  report: Pick<Report, 'name' | 'kind'> | null
  question: Record<string, unknown> | null
  /** Of a trend, with the letters by which the charts know the series. */
  answer: TileResult['answer']
  /** Why there is no answer. */
  problem: string | null
}

/** The tiles of a dashboard with their answers, for readers who may not ask: nothing is fetched, and no number opens its people. */
export function AnsweredTiles({ tiles }: { tiles: readonly AnsweredTile[] }) {
  return (
    <TileGrid tiles={tiles.map((tile, index) => ({ ...tile, key: `${index}` }))}>
      {(tile) => <Answered {...tile} />}
    </TileGrid>
  )
}

function Answered({ text, view, report, question, answer, problem }: AnsweredTile) {
  if (!report) {
    return (
      <TileCard>
        <TileText>{text ?? ''}</TileText>
      </TileCard>
    )
  }
  const { name, kind } = report
  return (
    <TileCard title={<Foreign max={120}>{name}</Foreign>}>
      {problem === null ? null : (
        <Text size="sm" c="dimmed">
          {problem}
        </Text>
      )}
      {question && answer ? (
        <TileAnswer kind={kind} name={name} view={view} question={question} answer={answer} />
      ) : null}
    </TileCard>
  )
}
