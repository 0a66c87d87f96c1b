"""Running a program over records: judging, prediction files, submissions, official scores."""
