/** Writing and speaking styles of a person, as routes show them. */
export const styles = {
  WritingStyle: 'tone formality sentenceLength vocabulary dos donts signaturePhrases',
  SpeakingStyle: 'pace cadence fillers pronunciations',
}
