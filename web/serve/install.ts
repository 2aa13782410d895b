import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import tokens from '../design/tokens.json' with { type: 'json' }
import type { AppPages } from '../shell/pages.ts'
import { type Built, dist } from './built.ts'
import type { Words } from './words.ts'

/** What a browser installs an app by (https://www.w3.org/TR/appmanifest/). */
export const manifestOf = ({ app, title, start, pages }: AppPages, { icons }: Built, words: Words, base: string): object => ({
  id: `${base}/`,
  name: words[title],
  short_name: words[title],
  start_url: `${base}${start}`,
  scope: `${base}/`,
  display: 'standalone',
  theme_color: tokens.color.surface.light,
  background_color: tokens.color.ground.light,
  icons: [
    { src: `/assets/${icons[192]}`, sizes: '192x192', type: 'image/png', purpose: 'any' },
    { src: `/assets/${icons[512]}`, sizes: '512x512', type: 'image/png', purpose: 'any' },
    { src: `/assets/${icons[512]}`, sizes: '512x512', type: 'image/png', purpose: 'maskable' },
  ],
  shortcuts: Object.values(pages)
    .filter(({ icon }) => icon)
    .map(page => ({ name: words[page.title], url: `${base}${page.paths[0]}` })),
  categories: [app === 'launcher' ? 'productivity' : 'social'],
})

/** The script of the service worker, as it was built. */
export const workerOf = ({ worker }: Built): Promise<string> => readFile(join(dist, 'assets', worker), 'utf8')
