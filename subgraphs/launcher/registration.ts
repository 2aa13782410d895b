import type { CallersWay } from '../../platform/outbound/callers.ts'
import type { Registration } from '../subgraph.ts'

/** Registration of the launcher: data only, so that other processes can read it without its code. */
export const registration: Registration = {
  slug: 'launcher',
  appId: 'app_launcher',
  title: 'Launcher',
  contexts: ['personal', 'organization'],
  icon: '/icons/launcher.svg',
  asks: ['publishing:dashboard.read', 'agents:workspace.read', 'payments:dashboard.read', 'providers:service.invoke', 'providers:usage.read'],
  widget: null,
  lifecycle: 'active',
  kind: 'application',
  capabilities: ['household_capable'],
  mobileApps: [],
}

/** Ids of prices that stand at the payment processor already, by package and interval; what is missing is made there once. */
export type PriceIds = {
  readonly [Package in 'THREE' | 'FIVE' | 'TEN' | 'EVERYTHING' | 'FREE_WORKSPACE']?: { readonly [Interval in 'MONTH' | 'YEAR']?: string }
}

/** Settings of the launcher from the configuration. */
export interface LauncherSettings {
  /** Where the developer platform is, which lists the apps of the store; null: the catalogue has platform apps alone. */
  readonly developersUrl: string | null
  /** Where the developer platform's pages are; null: people sign up here. */
  readonly developersWebUrl: string | null
  /** The marketing site. */
  readonly marketing: {
    /** Its address, without a trailing slash. */
    readonly url: string
    /** Who is mailed about leads; null: nobody. */
    readonly leadsMailTo: string | null
    /** Time zone of the office hours in which demos take place. */
    readonly demoTimeZone: string
    /** The consent service; null: decisions about cookies are kept here alone. */
    readonly consentService: { readonly url: string; readonly project: string } | null
    /** What challenges are signed with; null: a secret that the processes share in their database. */
    readonly challengeSecret: string | null
  }
  /** Ways by which notifications reach people. */
  readonly reaching: {
    /** The notification service, whose items join the queue; null: there is none. */
    readonly service: { readonly url: string; readonly secrets: readonly string[] } | null
    /** What push messages are signed with; without a private key one that the processes share in their database. */
    readonly vapid: { readonly privateKey: string | null; readonly subject: string }
  }
  /** What is paid for. */
  readonly billing: {
    /** With what the payment processor signs its events; null: none are taken. */
    readonly secrets: readonly string[] | null
    /** Ids of prices that stand at the processor already. */
    readonly prices: PriceIds
    /** Whether events of live mode count here, or those of test mode. */
    readonly isLive: boolean
  }
  /** Address of the dashboard, without a trailing slash: `https://launcher.example.com`. */
  readonly dashboardUrl: string
  /** To the apps of third parties: public addresses, and those that the operator allows. */
  readonly appsWay: CallersWay
}
