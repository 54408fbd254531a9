import { Box, Grid } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ErrorState } from '../ui/states.tsx'
import { useLater } from '../ui/use-later.ts'
import { WEB } from './kinds.ts'
import { listQuery, ROWS_MAX } from './list-query.ts'
import { ListCard, type ListsProps } from './web-list-card.tsx'
import type { WebQuestion } from './web-question.ts'

/** Countries on a map and as a list, regions and cities. */
export function PlacesCard(lists: ListsProps) {
  const { question, onToggle } = lists
  return (
    <ListCard
      card="country"
      around={(list, rows) =>
        list === 'country' && onToggle ? (
          <Grid>
            <Grid.Col span={{ base: 12, md: 8 }}>
              <CountryMap question={question} onChoose={(country) => onToggle('country', country)} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, md: 4 }}>{rows}</Grid.Col>
          </Grid>
        ) : (
          rows
        )
      }
      {...lists}
    />
  )
}

interface CountryMapProps {
  question: WebQuestion
  onChoose: (country: string) => void
}

/** The list beside it has the same as text and buttons, so nothing is missing while the map is, or without it. */
function CountryMap({ question, onChoose }: CountryMapProps) {
  const { data, error, refetch } = useQuery({
    ...listQuery(question, 'country', ROWS_MAX),
    placeholderData: keepPreviousData,
    refetchInterval: WEB.refreshMs ?? false,
  })
  const map = useLater(true, () => import('./world-map.tsx'))
  if (error && !data) return <ErrorState error={error} onRetry={refetch} />
  const people = new Map(data?.lists.country?.map((row) => [row.value ?? '', row.people]))
  return (
    <Box style={{ aspectRatio: '2000 / 870' }}>{map ? <map.WorldMap people={people} onChoose={onChoose} /> : null}</Box>
  )
}
