/** What an app says, by language; made by the build (`build/bundle.ts`). */
declare module 'words:*' {
  import type { LocalizedString } from '@internationalized/string'

  const languages: Readonly<Record<string, () => Promise<{ readonly default: Record<string, LocalizedString> }>>>
  export default languages
}
