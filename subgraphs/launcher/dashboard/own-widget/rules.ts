/** Numbers of the launcher's own widget. */
export interface OwnFigures {
  readonly openActions: number
  readonly unreadNotifications: number
  readonly installedApps: number
  readonly launchesToday: number
}

/** Returns the first moment of a day in UTC. */
export const dayOf = (now: Date): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))

/** Content of the launcher's own widget. */
export const payload = ({ openActions, unreadNotifications, installedApps, launchesToday }: OwnFigures, dashboardUrl: string) => ({
  statistics: [
    { key: 'openActions', label: 'Open actions', value: openActions },
    { key: 'unreadNotifications', label: 'Unread notifications', value: unreadNotifications },
    { key: 'installedApps', label: 'Installed apps', value: installedApps },
    { key: 'launchesToday', label: 'Launches today', value: launchesToday },
  ],
  items: [],
  nextAction:
    openActions > 0 ? { label: openActions === 1 ? 'Look at the open action' : `Look at ${openActions} open actions`, url: `${dashboardUrl}/actions` } : null,
  chart: null,
})
