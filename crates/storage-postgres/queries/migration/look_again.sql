select look_again()
