import { Alert } from '@mantine/core'
import type { Report, Tile, TileResult } from '../../api/types.ts'
import { Foreign } from '../../ui/text.tsx'
import { lettered } from './lettered.ts'
import { TileAnswer, TileCard, TileText } from './tile.tsx'
import { TileGrid } from './tile-grid.tsx'

/** A tile with what it shows. */
export interface AnsweredTile extends Tile {
  report: Pick<Report, 'name' | 'kind'> | null
  question: Record<string, unknown> | null
  answer: TileResult['answer']
  error: { message: string } | null
}

/** The tiles of a dashboard with their answers, for readers who may not ask: nothing is fetched, and no number opens its people. */
export function AnsweredTiles({ tiles }: { tiles: readonly AnsweredTile[] }) {
  return (
    <TileGrid tiles={tiles.map((tile, index) => ({ ...tile, key: `${index}` }))}>
      {(tile) => <Answered {...tile} />}
    </TileGrid>
  )
}

function Answered({ text, view, report, question, answer, error }: AnsweredTile) {
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
      {error ? (
        <Alert color="red" variant="light">
          {error.message}
        </Alert>
      ) : null}
      {question && answer ? (
        <TileAnswer
          kind={kind}
          name={name}
          view={view}
          question={question}
          answer={kind === 'trend' ? lettered(question, answer) : answer}
        />
      ) : null}
    </TileCard>
  )
}
