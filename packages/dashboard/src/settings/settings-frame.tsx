import { Box } from '@mantine/core'
import { useViewportSize } from '@mantine/hooks'
import { Link, linkOptions, Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useIsAtLeast } from '../app/may.ts'
import classes from './settings-frame.module.css'

/** The pages of the settings; some are hidden from people without permission. */
const PAGES = [
  { label: 'Profile and security', link: linkOptions({ to: '/settings/profile' }) },
  { label: 'Team', link: linkOptions({ to: '/settings/team' }) },
  { label: 'Tenants', link: linkOptions({ to: '/settings/tenants' }) },
  { label: 'Tracker', link: linkOptions({ to: '/settings/tracker' }) },
  { label: 'Domains', link: linkOptions({ to: '/settings/domains' }) },
  { label: 'Identification', link: linkOptions({ to: '/settings/identification' }), isForAdmins: true },
  { label: 'API keys', link: linkOptions({ to: '/settings/keys' }), isForAdmins: true },
  { label: 'Rate limits', link: linkOptions({ to: '/settings/limits' }) },
  { label: 'Audit log', link: linkOptions({ to: '/settings/audit' }), isForAdmins: true },
  { label: 'Data', link: linkOptions({ to: '/settings/data' }), isForAdmins: true },
]

/** The frame of the settings: their navigation at the side, or as a row on small screens. */
export function SettingsFrame() {
  const isAdmin = useIsAtLeast('admin')
  const path = useRouterState({ select: (state) => state.location.pathname })
  const { width } = useViewportSize()
  const navigation = useRef<HTMLElement>(null)
  useEffect(() => {
    if (path === '' || width === 0) return
    // If the row is wider than the screen, scrolls to the current link.
    const row = navigation.current
    const current = row?.querySelector<HTMLElement>('[aria-current="page"]')
    if (row && current) row.scrollLeft = current.offsetLeft - row.offsetLeft - 24
  }, [path, width])
  return (
    <Box className={classes.frame}>
      <nav className={classes.navigation} aria-label="Settings" ref={navigation}>
        {PAGES.filter(({ isForAdmins }) => isAdmin || !isForAdmins).map(({ label, link }) => (
          <Link key={label} className={classes.link} activeOptions={{ includeSearch: false }} {...link}>
            {label}
          </Link>
        ))}
      </nav>
      <div className={classes.page}>
        <Outlet />
      </div>
    </Box>
  )
}
