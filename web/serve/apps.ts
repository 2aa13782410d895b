import { agents } from '../agents/pages.ts'
import { launcher } from '../launcher/pages.ts'
import { payments } from '../payments/pages.ts'
import { providers } from '../providers/pages.ts'
import { publishing } from '../publishing/pages.ts'
import type { AppPages } from '../shell/pages.ts'

/** Every app that there is. */
export const apps: readonly AppPages[] = [launcher, publishing, payments, agents, providers]
