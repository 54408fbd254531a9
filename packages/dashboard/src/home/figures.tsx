import { Box } from '@mantine/core'
import classes from './home-page.module.css'
import type { Overview } from './overview.ts'
import { StatCard } from './stat-card.tsx'
import { text as texts } from './text.ts'

const text = texts.figures

/** The four numbers at the top, each compared to the previous period. */
export function Figures({ overview }: { overview: Overview }) {
  const { previous, by_day } = overview
  return (
    <Box component="section" aria-label={text.label} className={classes.figures}>
      <StatCard
        label={text.visitors}
        value={overview.visitors}
        before={previous.visitors}
        byDay={by_day.map(({ visitors }) => visitors)}
      />
      <StatCard label={text.identified} value={overview.identified_contacts} before={previous.identified_contacts} />
      <StatCard
        label={text.events}
        value={overview.events}
        before={previous.events}
        byDay={by_day.map(({ events }) => events)}
      />
      <StatCard label={text.created} value={overview.contacts_created} before={previous.contacts_created} />
    </Box>
  )
}
