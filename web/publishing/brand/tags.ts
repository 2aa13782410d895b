/** Tags as they were typed: parted by commas, without `#`, each once. */
export const tagsOf = (typed: string): readonly string[] => [...new Set(typed.split(',').flatMap(tag => tag.trim().replace(/^#+/, '') || []))]
