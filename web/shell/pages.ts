/** A page of an app, as the server answers it and the router in the browser draws it. */
export interface PageOf {
  /** Addresses at which it answers, without the app's prefix; `:name` stands for one part. The first one is its own. */
  readonly paths: readonly [string, ...string[]]
  /** The module that draws it, from the folder `web/`. */
  readonly module: string
  /** Key of its title in the words. */
  readonly title: string
  /** Name of its icon where the rail leads to it. @default the rail does not */
  readonly icon?: string
  /** Who alone is led to it by the rail: admins of the platform. @default everybody */
  readonly isForPlatform?: true
  /** Whether it is there in development alone. @default everywhere */
  readonly isForDevelopment?: true
  /** What stands there before its script has run. */
  readonly skeleton: 'table' | 'grid' | 'form'
}

/** An app: the pages of one service. */
export interface AppPages {
  readonly app: 'launcher' | 'publishing' | 'payments' | 'agents' | 'providers'
  /** Key of its name in the words. */
  readonly title: string
  /** The module that its pages begin with, from the folder `web/`. */
  readonly entry: string
  /** The page that `/` of its host leads to. */
  readonly start: string
  /** Whether the server sends whoever has not signed in to `/login`: where the session is a cookie that it can read. */
  readonly guarded: boolean
  /** The page to which the server sends people who have something to do before the others open. @default nobody has */
  readonly onboarding?: string
  /** Whether its token lives in memory alone: signing in and `/login` are identity's, and a code brings it back. @default it has its own `/login` */
  readonly isForgetful?: true
  /** Whether browsers install it, with a worker that keeps its pages for when there is no network. @default it is a page like others */
  readonly installs?: true
  /** Where the script lies that puts its public chat on any page. @default it has none */
  readonly embed?: string
  /** By their names, in the order of the rail. */
  readonly pages: Readonly<Record<string, PageOf>>
}
