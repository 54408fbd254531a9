/** The page of each kind of question. */
export const KIND_PATHS = {
  trend: '/insights',
  funnel: '/insights/funnel',
  retention: '/insights/retention',
  paths: '/insights/paths',
  web: '/insights/web',
} as const
