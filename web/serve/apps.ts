import { launcher } from '../launcher/pages.ts'
import { publishing } from '../publishing/pages.ts'
import type { AppPages } from '../shell/pages.ts'

/** Every app that there is. */
export const apps: readonly AppPages[] = [launcher, publishing]
