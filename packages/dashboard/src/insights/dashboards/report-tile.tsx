import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../../api/operation.ts'
import type { Report, Tile } from '../../api/types.ts'
import { AnchorLink } from '../../ui/link.tsx'
import { ErrorState, LoadingState } from '../../ui/states.tsx'
import { Foreign } from '../../ui/text.tsx'
import { KIND_PATHS } from '../kind-paths.ts'
import { answeredQuestion } from '../longer-interval.tsx'
import { WithPeople } from '../people-panel.tsx'
import { askedBy, type Defaults } from './asked.ts'
import { text } from './text.ts'
import { TileAnswer, TileCard } from './tile.tsx'
import { TILE_KINDS } from './tile-kinds.tsx'

const words = text.tile
/** While the page is visible. */
const REFRESH_MS = 60_000

interface ReportTileProps {
  reportId: string
  view: Tile['view']
  defaults: Defaults
  handle?: ReactNode
  tools?: ReactNode
}

/** A tile that asks the question of its report. */
export function ReportTile({ reportId, view, defaults, ...around }: ReportTileProps) {
  const { data, error, refetch } = useQuery(queryOf('getReport', { report_id: reportId }))
  if (data) return <Asked report={data.report} view={view} defaults={defaults} {...around} />
  return (
    <TileCard {...around}>
      {error ? <ErrorState error={error} onRetry={refetch} /> : <LoadingState lines={2} label={text.page.loading} />}
    </TileCard>
  )
}

function Asked({ report, view, defaults, ...around }: Omit<ReportTileProps, 'reportId'> & { report: Report }) {
  const { name, kind } = report
  const question = askedBy(report, view, defaults)
  const { data, error, refetch } = useQuery({
    ...TILE_KINDS[kind].ask(question),
    refetchInterval: REFRESH_MS,
  })
  const answered = data ? answeredQuestion({ kind, ...data }) : question
  return (
    <TileCard
      title={
        <AnchorLink inherit c="inherit" to={KIND_PATHS[kind]} search={{ question: JSON.stringify(answered) }}>
          <Foreign max={120}>{name}</Foreign>
        </AnchorLink>
      }
      {...around}
    >
      {error && !data ? <ErrorState error={error} onRetry={refetch} /> : null}
      {!error && !data ? <LoadingState lines={view === 'number' ? 2 : 4} label={words.loading(name)} /> : null}
      {data ? (
        <WithPeople kind={kind} question={{ ...answered, compare: undefined }}>
          <TileAnswer kind={kind} name={name} view={view} {...data} />
        </WithPeople>
      ) : null}
    </TileCard>
  )
}
