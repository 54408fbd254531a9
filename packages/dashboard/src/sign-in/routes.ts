import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { invitationQuery, meQuery, signInOptionsQuery } from '../api/session.ts'
import { rootRoute } from '../app/root-routes.tsx'
import { searchParams, text } from '../app/search-params.ts'

const signIn = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchParams({ redirect: text }),
  loader: ({ context }) => void context.queryClient.prefetchQuery(signInOptionsQuery),
  component: lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage'),
})

const setup = createRoute({
  getParentRoute: () => rootRoute,
  path: '/setup',
  component: lazyRouteComponent(() => import('./setup-page.tsx'), 'SetupPage'),
})

const invitation = createRoute({
  getParentRoute: () => rootRoute,
  path: '/invitation/$token',
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(invitationQuery(params.token)),
  component: lazyRouteComponent(() => import('./invitation-page.tsx'), 'InvitationPage'),
})

const resetPassword = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  validateSearch: searchParams({ token: text }),
  component: lazyRouteComponent(() => import('./reset-password-page.tsx'), 'ResetPasswordPage'),
})

const chooseTenant = createRoute({
  getParentRoute: () => rootRoute,
  path: '/choose-tenant',
  loader: ({ context }) => void context.queryClient.prefetchQuery(meQuery),
  component: lazyRouteComponent(() => import('./choose-tenant-page.tsx'), 'ChooseTenantPage'),
})

export const signInRoutes = [signIn, setup, invitation, resetPassword, chooseTenant] as const
